//! The name of a handle to something outside: the path of a file, the address of a peer.
//!
//! It is used in messages, and compared in a replay: what was read from one file must be read from a file of the same
//! name.

use std::{fmt, sync::Arc};

use reenact_engine::{Asked, is_withheld};

#[derive(Clone)]
pub(crate) struct Name {
    text: Arc<str>,
    asked: Asked,
    withheld: bool,
}

impl Name {
    /// Creates the name `text` of a resource of this kind.
    pub(crate) fn new(kind: &str, text: impl fmt::Display) -> Name {
        let text: Arc<str> = text.to_string().into();
        Name {
            asked: Asked::bytes(text.as_bytes()),
            withheld: is_withheld(kind, &text),
            text,
        }
    }

    /// Returns the name in the form that a replay compares.
    pub(crate) fn asked(&self) -> Asked {
        self.asked
    }

    /// Whether data read from there must be kept out of the trace.
    pub(crate) fn is_withheld(&self) -> bool {
        self.withheld
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}
