//! A call with a source location other than where it is written.
//!
//! The output of a `macro_rules!` macro has the location of the macro's use, whatever its arguments are. This gives
//! calls the locations of the individual arguments instead.

use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// Turns `at name method` into `name.method()` with the location of `at`.
pub(crate) fn call_at(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter();
    let (Some(at), Some(name), Some(TokenTree::Ident(method))) =
        (tokens.next(), tokens.next(), tokens.next())
    else {
        return "::core::compile_error!(\"a place, a name and a method\")"
            .parse()
            .unwrap_or_default();
    };
    let mut arguments = Group::new(Delimiter::Parenthesis, TokenStream::new());
    arguments.set_span(at.span());
    let mut dot = proc_macro::Punct::new('.', proc_macro::Spacing::Alone);
    dot.set_span(at.span());
    let method = Ident::new(&method.to_string(), at.span());
    TokenStream::from_iter([name, dot.into(), method.into(), arguments.into()])
}
