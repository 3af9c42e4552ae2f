//! A method of the actor as a message: what it carries, its answer, and how it is sent.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Attribute, GenericParam, Generics, Ident, ImplItemFn, Lifetime, Path, Result, Safety,
    Signature, Type, ext::IdentExt, parse_quote, spanned::Spanned, visit_mut::VisitMut,
};

use crate::{
    answer::Answer, attributes, borrows::lifetimes, errors::Errors, parameter::Parameters,
    receiver, self_type::ReplaceSelf, visibility::is_private,
};

/// A method that is a message.
pub(crate) struct Message {
    /// Its `#[cfg]`, its documentation, and the lints that are allowed.
    attributes: Vec<Attribute>,
    name: Ident,
    generics: Generics,
    parameters: Parameters,
    answer: Answer,
}

/// Whether the method becomes a message: it is not private and has a receiver.
pub(crate) fn is_message(method: &ImplItemFn) -> bool {
    !is_private(&method.vis) && method.sig.receiver().is_some()
}

impl Message {
    /// Returns the message for a method of `actor`. `declared` are the lifetimes of the `impl` block.
    pub(crate) fn of(method: &ImplItemFn, actor: &Type, declared: &[Lifetime]) -> Result<Message> {
        let mut errors = Errors::default();
        check_qualifiers(&method.sig, &mut errors);
        let mut declared = declared.to_vec();
        for lifetime in lifetimes(&method.sig.generics) {
            errors.on(
                lifetime,
                "a message can outlive its sender, so it has no lifetime parameters",
            );
            declared.push(lifetime.clone());
        }
        if let Some(receiver) = method.sig.receiver() {
            errors.take(receiver::check(receiver, actor, &declared));
        }

        let mut signature = method.sig.clone();
        ReplaceSelf { actor }.visit_signature_mut(&mut signature);
        let parameters = Parameters::of(&signature, &declared, &mut errors);
        let answer = Answer::of(&signature.output, &declared, &mut errors);

        errors.finish(Message {
            attributes: attributes_of(method),
            name: signature.ident,
            generics: signature.generics,
            parameters,
            answer,
        })
    }

    /// Returns the trait's method that sends the message to an actor of type `actor`.
    ///
    /// Everything has the location of the method, so that the compiler reports errors there (a parameter that is not
    /// `Send`), but the context of the macro, so that lints recognize generated code.
    pub(crate) fn sender(&self, actor: &Type, runtime: &Path) -> TokenStream {
        let Message {
            attributes,
            generics,
            ..
        } = self;
        let place = Span::mixed_site().located_at(self.name.span());
        let mut name = self.name.clone();
        name.set_span(Span::call_site().located_at(self.name.span()));
        let (_, _, conditions) = generics.split_for_impl();
        let parameters = &self.parameters.carried;

        let target = |place| quote_spanned!(place=> <Self as #runtime::actor::Target<#actor>>);
        let turn = self.call(actor, runtime, place);
        let (output, body) = match &self.answer {
            Answer::None => {
                let target = target(place);
                (
                    None,
                    quote_spanned!(place=> #target::send_call(self, #turn);),
                )
            }
            Answer::Value(ty) => {
                let place = Span::mixed_site().located_at(ty.span());
                let target = target(place);
                let promise = quote_spanned!(place=> #runtime::actor::Promise<#ty>);
                (
                    Some(quote!(-> #promise)),
                    quote_spanned!(place=> #target::ask_call(self, #turn)),
                )
            }
            Answer::Promise(ty) => {
                let place = Span::mixed_site().located_at(ty.span());
                let target = target(place);
                let ask = quote_spanned!(place=> #target::ask_call(self, #turn));
                (
                    Some(quote!(-> #ty)),
                    quote_spanned!(place=> #runtime::actor::Promise::flatten(#ask)),
                )
            }
        };
        quote_spanned! {place=>
            #(#attributes)*
            #[track_caller]
            fn #name #generics (&self #(, #parameters)*) #output #conditions { #body }
        }
    }

    /// Returns the call as four values: what it carries; a closure that the actor runs when the message arrives; one
    /// that labels the call; and one that describes the actor. None of them captures anything. The names of their
    /// parameters are hygienic: a parameter of the message may have the same name.
    fn call(&self, actor: &Type, runtime: &Path, place: Span) -> TokenStream {
        let method = &self.name;
        let name = self.name.unraw().to_string();
        let generics = generic_arguments(&self.generics);
        let carried: Vec<_> = self
            .parameters
            .carried
            .iter()
            .map(|parameter| &parameter.name)
            .collect();
        let carried = quote_spanned!(place=> (#(#carried,)*));
        let names: Vec<_> = (0..self.parameters.carried.len())
            .map(|index| format_ident!("carried{index}", span = place))
            .collect();
        let run = match self.parameters.context {
            true => quote_spanned!(place=>
                |this, ctx, (#(#names,)*)| <#actor>::#method #generics (this, ctx, #(#names),*)
            ),
            false => quote_spanned!(place=>
                |this, _ctx, (#(#names,)*)| <#actor>::#method #generics (this, #(#names),*)
            ),
        };
        let inspect = quote_spanned!(place=> #runtime::actor::inspect);
        let import = quote_spanned!(place=> #[allow(unused_imports)] use #inspect::Hidden as _;);
        let label = match names.is_empty() {
            true => quote_spanned!(place=> |_| #inspect::call(#name, &[])),
            false => quote_spanned!(place=> |(#(#names,)*)| {
                #import
                #inspect::call(#name, &[#(#inspect::Shown(#names).reenact_text()),*])
            }),
        };
        let state = quote_spanned!(place=> |this| {
            #import
            #inspect::Shown(this).reenact_text()
        });
        quote_spanned!(place=> #carried, #run, #label, #state)
    }
}

/// Returns the attributes of the method that its message also gets.
fn attributes_of(method: &ImplItemFn) -> Vec<Attribute> {
    let mut attributes = attributes::cfgs_and_docs(&method.attrs);
    if !attributes::has_text(&attributes) {
        let text = format!(" Sends the message `{}`.", method.sig.ident.unraw());
        attributes.push(parse_quote!(#[doc = #text]));
    }
    attributes.extend(attributes::allowed_lints(&method.attrs));
    if attributes::is_deprecated(&method.attrs) {
        attributes.push(parse_quote!(#[allow(deprecated)]));
    }
    attributes
}

fn check_qualifiers(method: &Signature, errors: &mut Errors) {
    if let Some(token) = &method.asyncness {
        errors.on(token, "a turn runs to its end; return a promise instead");
    }
    if let Safety::Unsafe(token) = &method.safety {
        errors.on(
            token,
            "a message is sent by safe code\nhelp: make the method safe, or private",
        );
    }
}

/// Returns `::<K, N>`, for the call of a method with these generics. They are explicit because some cannot be inferred.
fn generic_arguments(generics: &Generics) -> Option<TokenStream> {
    let names: Vec<_> = generics
        .params
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    (!names.is_empty()).then(|| quote!(::<#(#names),*>))
}
