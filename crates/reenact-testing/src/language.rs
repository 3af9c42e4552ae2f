//! The words of generated programs, which are written and parsed in the same way in all of their languages.

use std::{
    fmt::{self, Display},
    str::FromStr,
};

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

        impl std::fmt::Display for Verb {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
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

/// An operation of a generated program, such as `lock:0,1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<V> {
    /// What is done.
    pub verb: V,
    /// To what, or how often: the meaning depends on the verb.
    pub numbers: Vec<usize>,
}

impl<V: Display> Display for Operation<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.numbers.iter().map(usize::to_string).collect();
        write!(f, "{}:{}", self.verb, numbers.join(","))
    }
}

impl<V: FromStr<Err = String>> FromStr for Operation<V> {
    type Err = String;

    fn from_str(text: &str) -> Result<Operation<V>, String> {
        let (verb, numbers) = text.split_once(':').ok_or("no colon")?;
        Ok(Operation {
            verb: verb.parse()?,
            numbers: numbers.split(',').map(number).collect::<Result<_, _>>()?,
        })
    }
}

/// Writes operations, separated by spaces.
pub fn words<O: Display>(operations: &[O]) -> String {
    let words: Vec<_> = operations.iter().map(O::to_string).collect();
    words.join(" ")
}

/// Parses operations that are separated by spaces.
pub fn script<O: FromStr>(text: &str) -> Result<Vec<O>, O::Err> {
    text.split_whitespace().map(str::parse).collect()
}

/// Writes a limit, or `-` if there is none.
pub fn limit_to_text<N: Display>(limit: Option<N>) -> String {
    limit.map_or("-".to_owned(), |limit| limit.to_string())
}

/// Parses a limit, or `-` for none.
pub fn limit(text: &str) -> Result<Option<usize>, String> {
    match text {
        "-" => Ok(None),
        text => number(text).map(Some),
    }
}

/// Parses a number.
pub fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// The fields of a line such as `mutexes 2 channels -,0`: pairs of a name and a value.
pub struct Fields<'a>(Vec<&'a str>);

impl<'a> Fields<'a> {
    /// Splits a line into fields.
    pub fn of(line: &'a str) -> Fields<'a> {
        Fields(line.split(' ').collect())
    }

    /// Returns the value of a field.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        let (pairs, _) = self.0.as_chunks::<2>();
        let field = pairs.iter().find(|[known, _]| *known == name);
        let [_, value] = field.ok_or_else(|| format!("no {name}: {:?}", self.0))?;
        Ok(value)
    }

    /// Returns the value of a field that is a number.
    pub fn number(&self, name: &str) -> Result<usize, String> {
        number(self.text(name)?)
    }
}
