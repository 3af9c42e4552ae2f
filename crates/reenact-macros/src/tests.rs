//! Tests on short inputs: what is emitted, and what is refused.

use expect_test::Expect;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, ItemTrait};

use self::shorten::shorten;
use crate::expand::{beside, expand};

mod emits;
mod messages;
mod refuses;
mod shorten;

/// Checks everything that is added to the item.
#[track_caller]
fn check_beside(options: &str, item: &str, expected: &Expect) {
    expected.assert_eq(&pretty(right(options, item)));
}

/// Checks what is added to the item, without what every trait and message has.
#[track_caller]
fn check_short(options: &str, item: &str, expected: &Expect) {
    expected.assert_eq(&pretty(shortened(options, item)));
}

/// Checks the shortened trait for an `impl` block, without its attributes.
#[track_caller]
fn check_trait(item: &str, expected: &Expect) {
    expected.assert_eq(&pretty(the_trait(shortened("", item))));
}

/// Checks what the methods of `impl Math { … }` become, shortened.
#[track_caller]
fn check_messages(methods: &str, expected: &Expect) {
    expected.assert_eq(&messages(methods));
}

/// Returns what the methods of `impl Math { … }` become, shortened.
#[track_caller]
fn messages(methods: &str) -> String {
    let item = format!("impl Math {{ {methods} }}");
    let the_trait: ItemTrait = syn::parse2(the_trait(shortened("", &item))).unwrap();
    let methods = the_trait.items;
    let printed = pretty(quote!(trait _T { #(#methods)* }));
    let lines = printed
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix("    "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns what is added to an item that is right.
#[track_caller]
fn right(options: &str, item: &str) -> TokenStream {
    let (beside, errors) = beside(tokens(options), tokens(item));
    errors.finish(()).unwrap();
    beside.unwrap()
}

#[track_caller]
fn shortened(options: &str, item: &str) -> TokenStream {
    shorten(right(options, item))
}

/// Checks the errors, each after the text that it points to.
#[track_caller]
fn check_errors(options: &str, item: &str, expected: &Expect) {
    let (_, errors) = beside(tokens(options), tokens(item));
    let errors = errors.finish(()).expect_err("this is refused");
    let lines = errors.into_iter().map(|error| {
        let place = error.span().source_text().unwrap_or_default();
        format!("`{place}` {error}\n")
    });
    expected.assert_eq(&lines.collect::<String>());
}

/// Checks the errors of the methods of `impl Math { … }`.
#[track_caller]
fn check_refused(methods: &str, expected: &Expect) {
    check_errors("", &format!("impl Math {{ {methods} }}"), expected);
}

#[test]
fn the_item_itself_is_emitted_unchanged_right_or_wrong() {
    for item in [
        "impl Math { pub fn f(&self) {} }",
        "impl Math { pub async fn f(self) {} }",
        "struct Math;",
    ] {
        let all = expand(TokenStream::new(), tokens(item)).to_string();
        assert!(all.starts_with(&tokens(item).to_string()), "{all}");
    }
}

#[test]
fn the_messages_that_are_right_are_emitted_beside_the_errors() {
    let (beside, errors) = beside(
        TokenStream::new(),
        tokens("impl Math { pub async fn wrong(&mut self) {} pub fn right(&mut self) {} }"),
    );
    assert!(errors.finish(()).is_err());
    let the_trait: ItemTrait = syn::parse2(the_trait(beside.unwrap())).unwrap();
    assert_eq!(the_trait.items.len(), 1);
}

fn the_trait(beside: TokenStream) -> TokenStream {
    let file: syn::File = syn::parse2(beside).unwrap();
    let traits = file.items.into_iter().filter_map(|item| match item {
        Item::Trait(item) => Some(ItemTrait {
            attrs: Vec::new(),
            ..item
        }),
        _ => None,
    });
    quote!(#(#traits)*)
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}
