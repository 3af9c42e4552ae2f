//! The attribute `#[reenact::test]` where exploration is not compiled.

use proc_macro2::TokenStream;
use quote::quote;

const TEXT: &str = "this test is to be explored, but `reenact` is compiled without exploration\n\
                    help: enable its feature `explore`, which is on by default, or write `#[test]`";

pub(crate) fn expand(_options: TokenStream, item: TokenStream) -> TokenStream {
    quote!(::core::compile_error!(#TEXT); #item)
}
