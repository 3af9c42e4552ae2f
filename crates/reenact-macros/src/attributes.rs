//! The attributes that the trait takes over from the actor's code: those that decide whether a message exists, its
//! documentation, and the lints that are allowed, since the types of its signature occur a second time. All others
//! (`#[inline]`, `#[must_use]` …) concern the method itself, not sending.

use syn::{Attribute, Expr, Meta, Token, parse_quote, punctuated::Punctuated};

/// Returns the attributes among `all` that decide whether the code exists, including those under `#[cfg_attr]`.
pub(crate) fn cfgs(all: &[Attribute]) -> Vec<Attribute> {
    keep(all, &["cfg"])
}

/// Returns the attributes that a message shares with its method.
pub(crate) fn cfgs_and_docs(all: &[Attribute]) -> Vec<Attribute> {
    keep(all, &["cfg", "doc"])
}

/// Returns the allowed and expected lints as `#[allow]`: an expected lint need not occur a second time.
pub(crate) fn allowed_lints(all: &[Attribute]) -> Vec<Attribute> {
    let levels = all
        .iter()
        .filter_map(|attribute| attribute.meta.require_list().ok());
    let off = levels.filter(|level| level.path.is_ident("allow") || level.path.is_ident("expect"));
    off.map(|level| &level.tokens)
        .map(|lints| parse_quote!(#[allow(#lints)]))
        .collect()
}

/// Whether using the code causes a deprecation warning.
pub(crate) fn is_deprecated(all: &[Attribute]) -> bool {
    !keep(all, &["deprecated"]).is_empty()
}

/// Whether there is documentation text, and not only `#[doc(hidden)]` and the like.
pub(crate) fn has_text(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::NameValue(meta) => meta.path.is_ident("doc") && !is_blank(&meta.value),
        _ => false,
    })
}

fn is_blank(value: &Expr) -> bool {
    match value {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => text.value().trim().is_empty(),
        _ => false,
    }
}

fn keep(all: &[Attribute], names: &[&str]) -> Vec<Attribute> {
    let kept = |meta: &Meta| names.iter().any(|name| meta.path().is_ident(name));
    let mut result = Vec::new();
    for attribute in all {
        if kept(&attribute.meta) {
            result.push(attribute.clone());
        } else if attribute.path().is_ident("cfg_attr")
            && let Ok(parts) =
                attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        {
            let condition = parts.first();
            let inner: Vec<_> = parts.iter().skip(1).filter(|meta| kept(meta)).collect();
            if !inner.is_empty() {
                result.push(parse_quote!(#[cfg_attr(#condition, #(#inner),*)]));
            }
        }
    }
    result
}
