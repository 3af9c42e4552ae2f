//! Finds the borrows in a type. A message can stay in a mailbox for any length of time, and an actor lives until nobody
//! can send to it: neither can borrow from others.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    BoundLifetimes, GenericParam, Generics, Lifetime, LifetimeParam, ParenthesizedGenericArguments,
    TraitBound, Type, TypeFnPtr, TypeReference,
    visit::{self, Visit},
};

use crate::self_type::peel;

/// A borrow of something other than `'static`.
pub(crate) struct Borrow {
    /// The tokens to report.
    pub(crate) tokens: TokenStream,
    /// What to write instead.
    pub(crate) instead: String,
}

/// Returns the borrows in `ty`, from left to right, only the outermost of nested ones. Skips the lifetimes in
/// `declared`: they are reported where they are declared.
pub(crate) fn borrows(ty: &Type, declared: &[Lifetime]) -> Vec<Borrow> {
    let mut finder = Finder {
        known: declared.to_vec(),
        in_function: false,
        found: Vec::new(),
    };
    finder.visit_type(ty);
    finder.found
}

/// Returns the lifetime parameters among `generics`.
pub(crate) fn lifetimes(generics: &Generics) -> impl Iterator<Item = &Lifetime> {
    generics.params.iter().filter_map(|param| match param {
        GenericParam::Lifetime(LifetimeParam { lifetime, .. }) => Some(lifetime),
        _ => None,
    })
}

struct Finder {
    /// The lifetimes that need no error: declared around the type, or by a `for<…>` inside.
    known: Vec<Lifetime>,
    /// Whether this is inside `Fn(&str)` or `fn(&str)`, where the caller chooses an elided lifetime.
    in_function: bool,
    found: Vec<Borrow>,
}

impl Finder {
    fn is_fine(&self, lifetime: Option<&Lifetime>) -> bool {
        match lifetime {
            None => self.in_function,
            Some(lifetime) if lifetime.ident == "_" => self.in_function,
            Some(lifetime) => lifetime.ident == "static" || self.known.contains(lifetime),
        }
    }

    fn with_binder(&mut self, binder: Option<&BoundLifetimes>, visit: impl FnOnce(&mut Self)) {
        let outside = self.known.len();
        for param in binder.iter().flat_map(|binder| &binder.lifetimes) {
            if let GenericParam::Lifetime(param) = param {
                self.known.push(param.lifetime.clone());
            }
        }
        visit(self);
        self.known.truncate(outside);
    }

    fn as_function(&mut self, visit: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.in_function, true);
        visit(self);
        self.in_function = outside;
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_type_reference(&mut self, ty: &'ast TypeReference) {
        if self.is_fine(ty.lifetime.as_ref()) {
            self.visit_type(&ty.elem);
        } else {
            self.found.push(Borrow {
                tokens: ty.to_token_stream(),
                instead: owned(&ty.elem).into(),
            });
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if !self.is_fine(Some(lifetime)) {
            self.found.push(Borrow {
                tokens: lifetime.to_token_stream(),
                instead: "something that is `'static`".into(),
            });
        }
    }

    fn visit_type_fn_ptr(&mut self, ty: &'ast TypeFnPtr) {
        self.with_binder(ty.lifetimes.as_ref(), |finder| {
            finder.as_function(|finder| {
                for input in &ty.inputs {
                    finder.visit_type(&input.ty);
                }
                finder.visit_return_type(&ty.output);
            });
        });
    }

    fn visit_trait_bound(&mut self, bound: &'ast TraitBound) {
        self.with_binder(bound.lifetimes.as_ref(), |finder| {
            finder.visit_path(&bound.path)
        });
    }

    fn visit_parenthesized_generic_arguments(
        &mut self,
        arguments: &'ast ParenthesizedGenericArguments,
    ) {
        self.as_function(|finder| visit::visit_parenthesized_generic_arguments(finder, arguments));
    }
}

/// Returns the type that owns what a reference to `ty` borrows, with its article.
fn owned(ty: &Type) -> &'static str {
    match peel(ty) {
        Type::Slice(_) => "a `Vec`",
        Type::TraitObject(_) => "a `Box`",
        Type::Path(ty) => match ty
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .as_deref()
        {
            Some("str") => "a `String`",
            Some("Path") => "a `PathBuf`",
            Some("OsStr") => "an `OsString`",
            Some("CStr") => "a `CString`",
            _ => "the value itself, or an `Arc` of it",
        },
        _ => "the value itself, or an `Arc` of it",
    }
}
