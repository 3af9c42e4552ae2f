//! Expands an `impl` block to the same block and the trait with its messages.
//!
//! Even if there are errors, the block is always emitted, and the trait with the valid messages whenever possible: so
//! the compiler shows our errors and not those that follow from them.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Ident, ImplItem, ImplItemFn, Item, ItemImpl, Lifetime, Result, Type};

use crate::{
    borrows::{borrows, lifetimes},
    errors::Errors,
    message::{Message, is_message},
    options::Options,
    self_type::peel,
    senders::Senders,
    visibility::most_visible,
};

/// Expands `#[actor(options)] item`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let (beside, errors) = beside(options, item.clone());
    let errors = errors
        .finish(())
        .map_err(syn::Error::into_compile_error)
        .err();
    quote!(#item #beside #errors)
}

/// Returns what is added to the item, and the errors.
pub(crate) fn beside(options: TokenStream, item: TokenStream) -> (Option<TokenStream>, Errors) {
    let mut errors = Errors::default();
    let options = errors.take(syn::parse2(options)).unwrap_or_default();
    let block = errors.take(parse(item));
    let senders = block.and_then(|block| senders(&block, &options, &mut errors));
    (senders, errors)
}

fn parse(item: TokenStream) -> Result<ItemImpl> {
    match syn::parse2(item.clone())? {
        Item::Impl(block) => Ok(block),
        _ => {
            let text = "`#[actor]` goes on an `impl` block, whose methods become messages";
            let start = item
                .into_iter()
                .find(|token| !is_attribute(token))
                .map_or_else(Span::call_site, |token| token.span());
            Err(syn::Error::new(start, text))
        }
    }
}

/// Whether the token belongs to an attribute before an item.
fn is_attribute(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => punct.as_char() == '#',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Bracket,
        _ => false,
    }
}

/// Returns the trait and its implementation, unless the block as a whole is invalid.
fn senders(block: &ItemImpl, options: &Options, errors: &mut Errors) -> Option<TokenStream> {
    if let Some((path, _)) = &block.trait_ {
        let text = "messages are the methods of the actor itself\nhelp: put `#[actor]` on an `impl` block without a trait";
        errors.on(path, text);
        return None;
    }
    let declared: Vec<_> = lifetimes(&block.generics).cloned().collect();
    let mut of_block = Errors::default();
    check_owned(&block.self_ty, &declared, &mut of_block);
    let name = of_block.take(trait_name(block, options));

    let methods: Vec<_> = methods(block).filter(|method| is_message(method)).collect();
    if methods.is_empty() {
        let text = "nothing here is a message\nhelp: a message is a method with `&mut self` or `&self` that is not private";
        of_block.on(&block.self_ty, text);
    }
    let messages = methods
        .iter()
        .filter_map(|method| errors.take(Message::of(method, &block.self_ty, &declared)))
        .collect();

    let whole = of_block.is_empty();
    errors.take(of_block.finish(()));
    let senders = Senders {
        name: name?,
        visibility: most_visible(methods.iter().map(|method| &method.vis)),
        messages,
        block,
        runtime: &options.runtime,
    };
    whole.then(|| senders.emit())
}

fn methods(block: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    })
}

fn check_owned(actor: &Type, declared: &[Lifetime], errors: &mut Errors) {
    let text = "an actor lives as long as references to it exist, so it owns its data: no lifetimes but `'static`";
    for lifetime in declared {
        errors.on(lifetime, text);
    }
    for borrow in borrows(actor, declared) {
        errors.on(borrow.tokens, text);
    }
}

/// Returns `trait = Name`, or the actor's name followed by `Sends`.
fn trait_name(block: &ItemImpl, options: &Options) -> Result<Ident> {
    if let Some(name) = &options.trait_name {
        let mut name = name.clone();
        name.set_span(Span::call_site().located_at(name.span()));
        return Ok(name);
    }
    match peel(&block.self_ty) {
        Type::Path(ty) if let Some(last) = ty.path.segments.last() => Ok(format_ident!(
            "{}Sends",
            last.ident,
            span = Span::call_site().located_at(last.ident.span())
        )),
        ty => {
            let text = "this type has no name that the trait could be named for\nhelp: `#[actor(trait = Name)]` names it";
            Err(syn::Error::new_spanned(ty, text))
        }
    }
}
