//! The parameters of a message: what it carries, and the context that it gets on arrival.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{FnArg, Ident, Lifetime, Pat, PatType, PathArguments, Signature, Type, spanned::Spanned};

use crate::{borrows::borrows, errors::Errors, self_type::peel};

/// A value that a message carries.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}

impl ToTokens for Parameter {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Parameter { name, ty } = self;
        tokens.extend(quote!(#name: #ty));
    }
}

pub(crate) struct Parameters {
    /// Whether the method takes the context, before everything that is carried.
    pub(crate) context: bool,
    pub(crate) carried: Vec<Parameter>,
}

impl Parameters {
    /// Returns the method's parameters after its receiver. `declared` are lifetimes whose errors have already been
    /// reported.
    pub(crate) fn of(method: &Signature, declared: &[Lifetime], errors: &mut Errors) -> Parameters {
        let mut parameters = Parameters {
            context: false,
            carried: Vec::new(),
        };
        for (position, input) in method.inputs.iter().enumerate() {
            let FnArg::Typed(input) = input else { continue };
            let context = is_context(&input.ty);
            if context && position == 1 {
                parameters.context = true;
            } else if context {
                errors.on(input, "the context comes first, right after `self`");
            } else {
                check(input, declared, errors);
                parameters.carried.push(Parameter {
                    name: name(input, position),
                    ty: (*input.ty).clone(),
                });
            }
        }
        parameters
    }
}

fn check(input: &PatType, declared: &[Lifetime], errors: &mut Errors) {
    for attribute in &input.attrs {
        if attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr") {
            let text = "a message carries the same in every configuration\nhelp: put the attribute on the method";
            errors.on(attribute, text);
        }
    }
    for borrow in borrows(&input.ty, declared) {
        errors.on(
            borrow.tokens,
            format!("a message owns what it carries: take {}", borrow.instead),
        );
    }
}

/// Returns the parameter's own name, or a new one for a pattern. The new one is hygienic, so no other parameter has it.
fn name(input: &PatType, position: usize) -> Ident {
    match &*input.pat {
        Pat::Ident(pat) if pat.subpat.is_none() => {
            let mut name = pat.ident.clone();
            name.set_span(Span::call_site().located_at(pat.ident.span()));
            name
        }
        pat => format_ident!(
            "arg{position}",
            span = Span::mixed_site().located_at(pat.span())
        ),
    }
}

/// Whether it is `&mut Context<…>`, by any path. `Context<'_>` is not ours but that of `std::task`.
fn is_context(ty: &Type) -> bool {
    let Type::Reference(reference) = peel(ty) else {
        return false;
    };
    let Type::Path(ty) = peel(&reference.elem) else {
        return false;
    };
    let Some(last) = ty.path.segments.last() else {
        return false;
    };
    let ours = match &last.arguments {
        PathArguments::None => true,
        PathArguments::AngleBracketed(arguments) => arguments
            .args
            .iter()
            .all(|argument| matches!(argument, syn::GenericArgument::Type(_))),
        PathArguments::Parenthesized(_) => false,
    };
    last.ident == "Context" && ours
}
