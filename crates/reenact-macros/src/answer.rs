//! The answer to a message: nothing, or a value that leaves the actor.

use syn::{Lifetime, PathArguments, ReturnType, Type, TypeImplTrait, visit::Visit};

use crate::{borrows::borrows, errors::Errors, self_type::peel};

/// What the sender gets.
pub(crate) enum Answer {
    /// Nothing: the method has no return type.
    None,
    /// A promise of what the method returns.
    Value(Type),
    /// The promise, of this type, that the method returns.
    Promise(Type),
}

impl Answer {
    /// Returns the answer of a method. `declared` are lifetimes whose errors have already been reported.
    pub(crate) fn of(output: &ReturnType, declared: &[Lifetime], errors: &mut Errors) -> Answer {
        let ReturnType::Type(_, ty) = output else {
            return Answer::None;
        };
        check(ty, declared, errors);
        match is_promise(ty) {
            true => Answer::Promise((**ty).clone()),
            false => Answer::Value((**ty).clone()),
        }
    }
}

fn check(ty: &Type, declared: &[Lifetime], errors: &mut Errors) {
    for borrow in borrows(ty, declared) {
        let text = "an answer leaves the actor, so it cannot borrow from it: return";
        errors.on(borrow.tokens, format!("{text} {}", borrow.instead));
    }
    let mut unnamed = ImplTraits(Vec::new());
    unnamed.visit_type(ty);
    for ty in unnamed.0 {
        let text = "an answer has a type with a name\nhelp: return a `Box<dyn … + Send>`";
        errors.on(ty, text);
    }
    if let Type::Never(_) = peel(ty) {
        errors.on(ty, "a turn runs to its end, so a message returns");
    }
}

/// Whether it is written as `Promise<…>`, by any path.
fn is_promise(ty: &Type) -> bool {
    let Type::Path(ty) = peel(ty) else {
        return false;
    };
    ty.path.segments.last().is_some_and(|last| {
        last.ident == "Promise" && matches!(last.arguments, PathArguments::AngleBracketed(_))
    })
}

/// Collects each `impl Trait`.
struct ImplTraits<'ast>(Vec<&'ast TypeImplTrait>);

impl<'ast> Visit<'ast> for ImplTraits<'ast> {
    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.0.push(ty);
    }
}
