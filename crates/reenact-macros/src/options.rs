//! The options of `#[actor(…)]`.

use syn::{
    Error, Ident, Path, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    parse_quote,
};

pub(crate) struct Options {
    /// `trait = Name`: the name of the trait, if it is not derived from the actor's.
    pub(crate) trait_name: Option<Ident>,
    /// `crate = path`: the path of the runtime.
    pub(crate) runtime: Path,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            trait_name: None,
            runtime: parse_quote!(::reenact),
        }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut trait_name = None;
        let mut runtime = None;
        while !input.is_empty() {
            let option = input.call(Ident::parse_any)?;
            match option.to_string().as_str() {
                "trait" => once(&mut trait_name, &option, value(input, Ident::parse)?)?,
                "crate" => once(&mut runtime, &option, value(input, Path::parse_mod_style)?)?,
                _ => {
                    let text =
                        "no such option\nhelp: the options are `trait = Name` and `crate = path`";
                    return Err(Error::new(option.span(), text));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let default = Options::default();
        Ok(Options {
            trait_name,
            runtime: runtime.unwrap_or(default.runtime),
        })
    }
}

fn value<T>(input: ParseStream<'_>, parse: fn(ParseStream<'_>) -> Result<T>) -> Result<T> {
    input.parse::<Token![=]>()?;
    parse(input)
}

fn once<T>(place: &mut Option<T>, option: &Ident, value: T) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(option.span(), "this option is given twice")),
    }
}
