//! Operations on files, as a word of a command line: `read-some:1:2`.

use std::{fmt, str::FromStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) verb: Verb,
    pub(crate) numbers: [usize; 2],
}

macro_rules! verbs {
    ($($verb:ident = $word:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Verb {
            $($verb,)*
        }

        impl Verb {
            pub(crate) const ALL: &'static [(Verb, &'static str)] = &[$((Verb::$verb, $word),)*];
        }
    };
}

verbs! {
    Open = "open",
    Close = "close",
    ReadSome = "read-some",
    ReadExactly = "read-exactly",
    ReadRest = "read-rest",
    WriteSome = "write-some",
    WriteFormatted = "write-formatted",
    Seek = "seek",
    SetLength = "set-length",
    Clone = "clone",
    Ask = "ask",
    ReadAll = "read-all",
    WriteAll = "write-all",
    Exists = "exists",
    Permit = "permit",
    CreateDir = "create-dir",
    RemoveFile = "remove-file",
    RemoveDir = "remove-dir",
    Rename = "rename",
    Copy = "copy",
    Link = "link",
    Resolve = "resolve",
    List = "list",
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Verb::ALL.iter().find(|(verb, _)| *verb == self.verb);
        let word = known.map_or("", |(_, word)| word);
        let [first, second] = self.numbers;
        write!(f, "{word}:{first}:{second}")
    }
}

impl FromStr for Operation {
    type Err = ();

    fn from_str(text: &str) -> Result<Operation, ()> {
        let mut parts = text.split(':');
        let word = parts.next().ok_or(())?;
        let known = Verb::ALL.iter().find(|(_, known)| *known == word);
        let mut number = || parts.next().and_then(|text| text.parse().ok()).ok_or(());
        Ok(Operation {
            verb: known.ok_or(())?.0,
            numbers: [number()?, number()?],
        })
    }
}
