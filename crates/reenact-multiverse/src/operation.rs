//! What an activity is about to do, as breakpoints see it.

use std::{borrow::Cow, fmt};

use serde::Serialize;

use crate::{Activity, OperationKind};

/// A place in the source. Both numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Site {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// What a step is: the kind and the parties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation<'a> {
    /// What it is.
    pub kind: OperationKind,
    /// Who does it.
    pub activity: Activity,
    /// What it is about: the name of the message, of the lock, of the channel.
    pub subject: Cow<'a, str>,
    /// The other party: who will receive what is sent.
    pub with: Option<Activity>,
    /// Where it is in the source: the send, the method that is about to run.
    pub site: Option<Site>,
    /// For what is received: where it was sent.
    pub sent_at: Option<Site>,
    /// How many calls deep it is within its turn.
    pub depth: u32,
    /// Whether it belongs to what was marked with [`Semantics::mark`](crate::Semantics::mark).
    pub marked: bool,
}

impl Operation<'_> {
    /// The same operation, with a subject of its own.
    pub fn into_owned(self) -> Operation<'static> {
        Operation {
            subject: Cow::Owned(self.subject.into_owned()),
            ..self
        }
    }

    /// The same operation, with the subject of this one.
    pub fn reborrow(&self) -> Operation<'_> {
        Operation {
            subject: Cow::Borrowed(&self.subject),
            ..*self
        }
    }
}
