//! The pending operation of an activity, in the form that breakpoints match.

use std::{borrow::Cow, fmt};

use serde::Serialize;

use crate::{Activity, OperationKind};

/// A source location. Both numbers begin at 1.
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

/// The operation of a step: its kind and its parties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation<'a> {
    /// The kind of the operation.
    pub kind: OperationKind,
    /// The activity that performs it.
    pub activity: Activity,
    /// The name of the message, the lock or the channel.
    pub subject: Cow<'a, str>,
    /// The other party: the receiver of a send.
    pub with: Option<Activity>,
    /// The source location: of the send, or of the method that is about to run.
    pub site: Option<Site>,
    /// For a receive: the source location of the send.
    pub sent_at: Option<Site>,
    /// The call depth within its turn.
    pub depth: u32,
    /// Whether it belongs to what was marked with [`Semantics::mark`](crate::Semantics::mark).
    pub marked: bool,
}

impl Operation<'_> {
    /// Converts to an operation that owns its subject.
    pub fn into_owned(self) -> Operation<'static> {
        Operation {
            subject: Cow::Owned(self.subject.into_owned()),
            ..self
        }
    }

    /// Returns the operation with a borrowed subject.
    pub fn reborrow(&self) -> Operation<'_> {
        Operation {
            subject: Cow::Borrowed(&self.subject),
            ..*self
        }
    }
}
