//! A call at another line than where it is written.
//!
//! What a `macro_rules!` macro writes is at the line at which the macro is used, whatever it was given. Where each of several things
//! that it was given is to have its own line, the call is put there.

use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// Makes `name.method()` of `at name method`, as if it stood where `at` stands.
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
