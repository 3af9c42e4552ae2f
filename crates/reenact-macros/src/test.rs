//! The attribute `#[reenact::test]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Error, Ident, ItemFn, LitBool, LitInt, LitStr, Path, Result, ReturnType, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    parse_quote,
    spanned::Spanned,
};

/// The options between the parentheses.
struct Options {
    runtime: Path,
    /// Calls on the explorer.
    calls: Vec<TokenStream>,
}

const HELP: &str = "the options are `strategy = \"…\"` (portfolio, exhaustive, mixed, urw, walk, pct N, pctcp N, pos, \
                    preemptions N, delays N), `executions = N`, `seconds = N`, `steps = N`, `seed = N`, `cores = N`, \
                    `allow_blocked = true`, `spurious_wakeups = N` and `crate = path`";

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut runtime = parse_quote!(::reenact);
        let mut calls = Vec::new();
        while !input.is_empty() {
            let option = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            match option.to_string().as_str() {
                "crate" => runtime = Path::parse_mod_style(input)?,
                "strategy" => {
                    let strategy: LitStr = input.parse()?;
                    check_strategy(&strategy)?;
                    calls.push(quote!(.strategy(#strategy.parse().expect("a strategy"))));
                }
                "seconds" => {
                    let seconds: LitInt = input.parse()?;
                    calls.push(quote!(.time(::core::time::Duration::from_secs(#seconds))));
                }
                "allow_blocked" => {
                    let are_allowed: LitBool = input.parse()?;
                    calls.push(quote!(.allow_blocked(#are_allowed)));
                }
                "executions" | "steps" | "seed" | "cores" | "spurious_wakeups" => {
                    let number: LitInt = input.parse()?;
                    calls.push(quote!(.#option(#number)));
                }
                _ => {
                    let text = format!("no such option\nhelp: {HELP}");
                    return Err(Error::new(option.span(), text));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Options { runtime, calls })
    }
}

fn check_strategy(strategy: &LitStr) -> Result<()> {
    let text = strategy.value();
    let mut words = text.split_whitespace();
    let (name, number, rest) = (words.next(), words.next(), words.next());
    let is_number = number.is_some_and(|number| number.parse::<u32>().is_ok());
    let is_known = match name {
        Some("portfolio" | "exhaustive" | "mixed" | "urw" | "walk" | "pos") => number.is_none(),
        Some("pct" | "pctcp" | "preemptions" | "delays") => is_number && rest.is_none(),
        _ => false,
    };
    match is_known {
        true => Ok(()),
        false => Err(Error::new(
            strategy.span(),
            format!("no such strategy\nhelp: {HELP}"),
        )),
    }
}

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = syn::parse2(options).and_then(|options| Ok((options, syn::parse2(item.clone())?)));
    match parsed.and_then(|(options, test)| expand_test(&options, test)) {
        Ok(expanded) => expanded,
        Err(error) => {
            let error = error.into_compile_error();
            quote!(#error #item)
        }
    }
}

fn expand_test(options: &Options, test: ItemFn) -> Result<TokenStream> {
    let signature = &test.sig;
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new(
            asyncness.span(),
            "a test that is explored is a plain function",
        ));
    }
    if !signature.inputs.is_empty() || !signature.generics.params.is_empty() {
        let text = "a test that is explored takes nothing: what varies is chosen by `reenact::explore::any`";
        return Err(Error::new(signature.inputs.span(), text));
    }
    let Options { runtime, calls } = options;
    let (attributes, visibility, name) = (&test.attrs, &test.vis, &signature.ident);
    let (output, body) = (&signature.output, &test.block);
    let call = match output {
        ReturnType::Default => quote!(program),
        ReturnType::Type(_, kind) => quote_spanned! {kind.span()=>
            || if let ::core::result::Result::Err(error) = program() {
                ::core::panic!("{error:?}");
            }
        },
    };
    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() {
            fn program() #output #body
            #runtime::explore::run_test(
                ::core::env!("CARGO_MANIFEST_DIR"),
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                #runtime::explore::Explorer::new()#(#calls)*,
                #call,
            );
        }
    })
}
