//! The trait with the messages of one `impl` block.
//!
//! Lints stay silent about most of it because they see that a macro wrote it. What is allowed here is what they would
//! say all the same: the trait can be more visible than the actor, and documentation can link to what only the actor's
//! `Self` has.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Generics, Ident, ItemImpl, Path, Type, Visibility, parse_quote, spanned::Spanned,
    visit_mut::VisitMut,
};

use crate::{
    attributes,
    message::Message,
    self_type::{ReplaceSelf, peel},
};

/// The trait beside the block.
pub(crate) struct Senders<'a> {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) messages: Vec<Message>,
    pub(crate) block: &'a ItemImpl,
    pub(crate) runtime: &'a Path,
}

impl Senders<'_> {
    /// The trait, and its implementation for everything that messages can be sent to.
    pub(crate) fn emit(&self) -> TokenStream {
        let Senders {
            name,
            visibility,
            runtime,
            ..
        } = self;
        let actor = &*self.block.self_ty;
        let docs = self.docs();
        let cfgs = attributes::cfgs(&self.block.attrs);
        let lints = attributes::allowed_lints(&self.block.attrs);
        let methods = self
            .messages
            .iter()
            .map(|message| message.sender(actor, runtime));

        let mut generics = self.block.generics.clone();
        ReplaceSelf { actor }.visit_generics_mut(&mut generics);
        let (_, arguments, conditions) = generics.split_for_impl();
        let place = Span::call_site().located_at(actor.span());
        let target = quote_spanned!(place=> #runtime::actor::Target<#actor>);
        let with_target = with_param(&generics, &target);

        quote! {
            #(#cfgs)*
            #[doc = #docs]
            #(#lints)*
            #[allow(
                private_bounds,
                private_interfaces,
                rustdoc::broken_intra_doc_links,
                rustdoc::private_intra_doc_links
            )]
            #visibility trait #name #generics: #target #conditions {
                #(#methods)*
            }

            #(#cfgs)*
            impl #with_target #name #arguments for __Target #conditions {}
        }
    }

    fn docs(&self) -> String {
        let actor = match peel(&self.block.self_ty) {
            Type::Path(ty) if ty.qself.is_none() => {
                let names: Vec<_> = ty
                    .path
                    .segments
                    .iter()
                    .map(|segment| segment.ident.to_string())
                    .collect();
                format!("[`{}`]", names.join("::"))
            }
            _ => "an actor".to_owned(),
        };
        format!(
            " The messages for {actor}: what can be sent to its far references, and to promises of them."
        )
    }
}

/// The generics of the block and one more, for whatever messages can be sent to.
fn with_param(generics: &Generics, target: &TokenStream) -> TokenStream {
    let mut generics = generics.clone();
    generics
        .params
        .push(parse_quote!(__Target: #target + ?Sized));
    quote!(#generics)
}
