//! The words of generated programs, which are written and parsed in the same way in all of their languages.

use std::str::FromStr;

/// Defines `enum Verb` of the verbs of a language, each with the word that a program has for it.
#[macro_export]
macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident $word:literal,)*) => {
        /// What can be done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Verb {
            $($(#[$doc])* $verb,)*
        }

        impl Verb {
            pub(crate) const ALL: &[Verb] = &[$(Verb::$verb,)*];

            fn word(self) -> &'static str {
                match self {
                    $(Verb::$verb => $word,)*
                }
            }
        }

        impl std::str::FromStr for Verb {
            type Err = String;

            fn from_str(word: &str) -> Result<Verb, String> {
                let verb = Verb::ALL.iter().find(|verb| verb.word() == word);
                verb.copied().ok_or_else(|| format!("no such verb: {word}"))
            }
        }
    };
}

/// Parses an operation, such as `lock:0,1`.
pub fn operation<V: FromStr<Err = String>>(text: &str) -> Result<(V, Vec<usize>), String> {
    let (verb, numbers) = text.split_once(':').ok_or("no colon")?;
    let numbers = numbers.split(',').map(number).collect::<Result<_, _>>()?;
    Ok((verb.parse()?, numbers))
}

/// Parses a number.
pub fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}
