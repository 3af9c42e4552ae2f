//! What a handle to something outside is called: the path of a file, the address of a peer.
//!
//! For people, and for a replay: what is read from one file there was read from a file of that name.

use std::{fmt, sync::Arc};

use reenact_engine::{Asked, is_withheld};

#[derive(Clone)]
pub(crate) struct Name {
    text: Arc<str>,
    asked: Asked,
    withheld: bool,
}

impl Name {
    /// A thing of this kind with this name.
    pub(crate) fn new(kind: &str, text: impl fmt::Display) -> Name {
        let text: Arc<str> = text.to_string().into();
        Name {
            asked: Asked::bytes(text.as_bytes()),
            withheld: is_withheld(kind, &text),
            text,
        }
    }

    /// To be compared in a replay.
    pub(crate) fn asked(&self) -> Asked {
        self.asked
    }

    /// Whether what is read from there is to be kept out of the trace.
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
