//! The allowed receivers of a message: a borrow of the actor for one turn.

use quote::ToTokens;
use syn::{Error, Lifetime, Receiver, ReceiverKind, Result, Type};

use crate::self_type::{is_self, peel};

/// Checks the receiver of a message for `actor`. `declared` are lifetimes whose errors have already been reported.
pub(crate) fn check(receiver: &Receiver, actor: &Type, declared: &[Lifetime]) -> Result<()> {
    // `&self` has no type of its own; `self: &Self` has one, which may also be the actor by its name.
    let (lifetime, ty) = match &receiver.kind {
        ReceiverKind::Reference(_, lifetime, _) => (lifetime.as_ref(), None),
        ReceiverKind::Typed(_, ty) if let Type::Reference(ty) = peel(ty) => {
            (ty.lifetime.as_ref(), Some(&*ty.elem))
        }
        _ => {
            let text = "a message cannot take the actor away from those who refer to it\n\
                        help: take `&mut self`, or make the method private";
            return Err(Error::new_spanned(receiver, text));
        }
    };
    if let Some(lifetime) =
        lifetime.filter(|lifetime| lifetime.ident != "_" && !declared.contains(lifetime))
    {
        let text =
            "a message borrows the actor for one turn\nhelp: take `&mut self` without a lifetime";
        return Err(Error::new_spanned(lifetime, text));
    }
    let is_actor =
        |ty| peel(ty).to_token_stream().to_string() == peel(actor).to_token_stream().to_string();
    if ty.is_some_and(|ty| !is_self(ty) && !is_actor(ty)) {
        return Err(Error::new_spanned(
            receiver,
            "the receiver of a message is `&mut self` or `&self`",
        ));
    }
    Ok(())
}
