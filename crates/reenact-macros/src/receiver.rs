//! The allowed receivers of a message: a borrow of the actor for one turn.

use quote::ToTokens;
use syn::{Error, Lifetime, Receiver, Result, Type};

use crate::self_type::{is_self, peel};

/// Checks the receiver of a message for `actor`. `declared` are lifetimes whose errors have already been reported.
pub(crate) fn check(receiver: &Receiver, actor: &Type, declared: &[Lifetime]) -> Result<()> {
    let Type::Reference(ty) = peel(&receiver.ty) else {
        let text = "a message cannot take the actor away from those who refer to it\n\
                    help: take `&mut self`, or make the method private";
        return Err(Error::new_spanned(receiver, text));
    };
    if let Some(lifetime) = ty
        .lifetime
        .as_ref()
        .filter(|lifetime| lifetime.ident != "_" && !declared.contains(lifetime))
    {
        let text =
            "a message borrows the actor for one turn\nhelp: take `&mut self` without a lifetime";
        return Err(Error::new_spanned(lifetime, text));
    }
    let same = || {
        peel(&ty.elem).to_token_stream().to_string() == peel(actor).to_token_stream().to_string()
    };
    if !is_self(&ty.elem) && !same() {
        return Err(Error::new_spanned(
            receiver,
            "the receiver of a message is `&mut self` or `&self`",
        ));
    }
    Ok(())
}
