//! Checks the parts that every trait and every message has, and removes them, so that an expected text shows only what is
//! particular to it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Expr, ExprCall, File, Item, ItemTrait, Path, TraitItem, TypeParamBound,
    ext::IdentExt, parse_quote, visit_mut::VisitMut,
};

/// Shortens each trait: a call of `<Self as Target<_>>::send_call` with four arguments becomes one of `send_call` with
/// two, what it carries and the closure that the actor runs.
pub(super) fn shorten(beside: TokenStream) -> TokenStream {
    let mut file: File = syn::parse2(beside).unwrap();
    for item in &mut file.items {
        if let Item::Trait(item) = item {
            shorten_trait(item);
        }
    }
    file.into_token_stream()
}

fn shorten_trait(item: &mut ItemTrait) {
    take_attribute(
        &mut item.attrs,
        &parse_quote!(#[allow(
            private_bounds,
            private_interfaces,
            rustdoc::broken_intra_doc_links,
            rustdoc::private_intra_doc_links
        )]),
    );
    let Some(TypeParamBound::Trait(target)) = item.supertraits.first() else {
        panic!("the trait has no target");
    };
    let target = target.path.clone();
    for method in &mut item.items {
        let TraitItem::Fn(method) = method else {
            panic!("a trait has only messages");
        };
        take_attribute(&mut method.attrs, &parse_quote!(#[track_caller]));
        let name = method.sig.ident.unraw().to_string();
        let mut calls = Calls {
            target: &target,
            name,
            shortened: 0,
        };
        calls.visit_trait_item_fn_mut(method);
        assert_eq!(calls.shortened, 1, "{}", text(method));
    }
}

fn take_attribute(attributes: &mut Vec<Attribute>, common: &Attribute) {
    let at = attributes
        .iter()
        .position(|other| text(other) == text(common));
    attributes.remove(at.unwrap_or_else(|| panic!("there is no {}", text(common))));
}

/// Shortens the one call in a message.
struct Calls<'a> {
    /// `reenact::actor::Target<Math>`
    target: &'a Path,
    name: String,
    shortened: usize,
}

impl VisitMut for Calls<'_> {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        syn::visit_mut::visit_expr_call_mut(self, call);
        let target = self.target;
        for function in ["send_call", "ask_call"] {
            let function: TokenStream = function.parse().unwrap();
            if text(&call.func) == text(&quote!(<Self as #target>::#function)) {
                self.check_arguments(call);
                call.func = parse_quote!(#function);
                call.args = call.args.iter().skip(1).take(2).cloned().collect();
                self.shortened += 1;
            }
        }
    }
}

impl Calls<'_> {
    /// Checks the target, the closure that labels the call, and the one that describes the actor.
    fn check_arguments(&self, call: &ExprCall) {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let [target, carried, _, label, state] = arguments[..] else {
            panic!("{} has other arguments", text(call));
        };
        let Expr::Tuple(carried) = carried else {
            panic!("{} is not a tuple", text(carried));
        };
        let mut inspect = self.target.clone();
        inspect.segments.pop();
        let inspect = quote!(#inspect inspect);
        let import = quote!(#[allow(unused_imports)] use #inspect::Hidden as _;);
        let name = &self.name;
        let names: Vec<TokenStream> = (0..carried.elems.len())
            .map(|index| format!("carried{index}").parse().unwrap())
            .collect();
        let expected_label = match names.is_empty() {
            true => quote!(|_| #inspect::call(#name, &[])),
            false => quote!(|(#(#names,)*)| {
                #import
                #inspect::call(#name, &[#(#inspect::Shown(#names).reenact_text()),*])
            }),
        };
        let expected_state = quote!(|this| {
            #import
            #inspect::Shown(this).reenact_text()
        });
        assert_eq!(text(target), "self");
        assert_eq!(text(label), text(&expected_label));
        assert_eq!(text(state), text(&expected_state));
    }
}

fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}
