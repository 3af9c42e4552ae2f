//! Replaces `Self` in the actor's signatures by the actor's type: in the trait, `Self` would be the far reference.

use syn::{
    ExprPath, Path, QSelf, Type, TypePath, parse_quote,
    visit_mut::{self, VisitMut},
};

/// Replaces `Self` by `actor`.
pub(crate) struct ReplaceSelf<'a> {
    pub(crate) actor: &'a Type,
}

impl VisitMut for ReplaceSelf<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if is_self(ty) {
            *ty = self.actor.clone();
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }

    fn visit_type_path_mut(&mut self, ty: &mut TypePath) {
        self.qualify(&mut ty.qself, &mut ty.path);
        visit_mut::visit_type_path_mut(self, ty);
    }

    fn visit_expr_path_mut(&mut self, expr: &mut ExprPath) {
        self.qualify(&mut expr.qself, &mut expr.path);
        visit_mut::visit_expr_path_mut(self, expr);
    }
}

impl ReplaceSelf<'_> {
    /// Turns `Self::Name` into `<Actor>::Name`.
    fn qualify(&self, qself: &mut Option<QSelf>, path: &mut Path) {
        if qself.is_none() && path.segments.len() > 1 && path.segments[0].ident == "Self" {
            let actor = self.actor;
            let rest = path.segments.iter().skip(1);
            let qualified: TypePath = parse_quote!(<#actor>::#(#rest)::*);
            *qself = qualified.qself;
            *path = qualified.path;
        }
    }
}

/// Whether the type is written as just `Self`.
pub(crate) fn is_self(ty: &Type) -> bool {
    matches!(peel(ty), Type::Path(TypePath { qself: None, path, .. }) if path.is_ident("Self"))
}

/// Returns the type without parentheses, and without the invisible ones that a `macro_rules!` puts around its `$t:ty`.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        _ => ty,
    }
}
