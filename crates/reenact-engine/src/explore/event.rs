//! Events: what a step does that others can observe, and which steps are dependent.

use std::{
    fmt,
    hash::{Hash, Hasher},
    panic::Location,
    slice,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    names::{Families, ObjectTable},
    schedule::Line,
};
use crate::{Access, Op, OpInfo, OperationKind, Values, site::Site};

/// An object that an activity accesses, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Touched {
    pub(crate) access: Access,
    pub(crate) object: u32,
}

/// The object number of an operation that accesses no object.
pub(crate) const NOTHING: u32 = u32::MAX;

impl Touched {
    /// An access without an object.
    pub(crate) fn nothing(access: Access) -> Touched {
        Touched {
            access,
            object: NOTHING,
        }
    }
}

/// What an operation at a channel may turn out to access: it may end the wait of a selection, which then leaves the other
/// channels at which it waits.
pub(crate) const ANY_CHANNEL: [Touched; 2] = [
    Touched {
        access: Access::SendTimeout,
        object: NOTHING,
    },
    Touched {
        access: Access::ReceiveTimeout,
        object: NOTHING,
    },
];

/// The objects that an operation accesses.
///
/// A chain of std's adapters would do the same, but every caller's adapters on top of it would repeat its long type.
pub(crate) struct Touches<'a> {
    first: Option<Touched>,
    more: slice::Iter<'a, Touched>,
}

impl Iterator for Touches<'_> {
    type Item = Touched;

    #[inline]
    fn next(&mut self) -> Option<Touched> {
        self.first.take().or_else(|| self.more.next().copied())
    }
}

/// What an activity does in one step.
#[derive(Clone)]
pub struct Event {
    pub(crate) op: Op,
    /// The source location that announced the operation.
    pub(crate) site: &'static Location<'static>,
    /// The location in the user's program that led there, if it differs and has been requested.
    pub(crate) behind: Option<&'static Site>,
    pub(crate) touch: Touched,
    /// Further objects that the operation accesses.
    pub(crate) more: Option<Arc<[Touched]>>,
    /// The description of a message that is sent or handled. Ignored when events are compared.
    pub(crate) about: Option<Arc<About>>,
}

/// The description of a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    /// The message itself, such as `double(12)`.
    pub(crate) label: String,
    /// The receiver, for a message that is being sent; the sender, for one that is handled.
    pub(crate) peer: u32,
    /// For a message that is handled: where it was sent, if known. None for one that is being sent.
    pub(crate) sent_at: Option<Option<&'static Site>>,
}

impl Event {
    /// An event that does nothing.
    #[track_caller]
    pub(super) fn nothing() -> Event {
        const NOTHING_AT_ALL: Op = Op::new(&OpInfo {
            code: 0,
            name: "nothing",
            kind: OperationKind::Local,
            object: "",
            values: Values::Hidden,
            part: None,
        });
        Event {
            op: NOTHING_AT_ALL,
            site: Location::caller(),
            behind: None,
            touch: Touched::nothing(Access::Choose),
            more: None,
            about: None,
        }
    }

    /// Returns what the event does and where, for display. A send includes the message; the handling of a message also
    /// includes its sender and where it was sent.
    pub(super) fn text(&self, families: &Families) -> (String, String) {
        let operation = self.op.name();
        match self.about.as_deref() {
            Some(&About {
                ref label,
                peer,
                sent_at: Some(site),
            }) => {
                let mut label = format!("{label} from {}", families.name(peer));
                if let Some(site) = site {
                    label += &format!(" at {site}");
                }
                (Line::labelled(operation, &label), String::new())
            }
            Some(about) => (
                Line::labelled(operation, &about.label),
                Site::text(self.line()),
            ),
            None => (operation.to_owned(), Site::text(self.line())),
        }
    }

    /// Returns the location in the program that requested the operation, if known.
    pub(crate) fn line(&self) -> Option<Site> {
        match self.behind {
            Some(behind) => Some(*behind),
            None => Site::announced(self.site),
        }
    }

    /// Returns the kind that a debugger shows. A release is reported as an unlock, because not every model has a
    /// release operation of its own.
    pub(crate) fn kind(&self) -> OperationKind {
        match self.touch.access {
            Access::Release => OperationKind::Unlock,
            _ => self.op.kind(),
        }
    }

    /// Returns all objects that the operation accesses, and how.
    pub(crate) fn touches(&self) -> Touches<'_> {
        Touches {
            first: Some(self.touch),
            more: self.more.as_deref().unwrap_or_default().iter(),
        }
    }

    /// Returns whether this pending event may be the one that happened. An activity that panics may access more objects
    /// than it announced, and one that ends the wait of a selection does.
    pub(super) fn may_become(&self, happened: &Event) -> bool {
        let has_more = || match &self.more {
            None => true,
            Some(more) if more.ends_with(&ANY_CHANNEL) => {
                let more = &more[..more.len() - ANY_CHANNEL.len()];
                happened
                    .more
                    .as_deref()
                    .unwrap_or_default()
                    .starts_with(more)
            }
            more => *more == happened.more,
        };
        self.touch == happened.touch && self.op.code() == happened.op.code() && has_more()
    }

    /// Returns whether the order of the two events can be observed.
    pub(super) fn is_dependent(&self, other: &Event, objects: &ObjectTable) -> bool {
        if self.touch.access == Access::Ask || other.touch.access == Access::Ask {
            return true;
        }
        if self.more.is_none() && other.more.is_none() {
            return conflict(self.touch, other.touch, objects);
        }
        // The accesses of a transaction are known once it has run; before that, it may access anything.
        let are_known = self.more.is_some() && other.more.is_some();
        self.touches().any(|mine| {
            other.touches().any(|theirs| {
                let is_surely_untracked = are_known && mine.access == Access::Transact;
                !is_surely_untracked && conflict(mine, theirs, objects)
            })
        })
    }
}

#[inline]
fn conflict(mine: Touched, theirs: Touched, objects: &ObjectTable) -> bool {
    mine.access.conflicts(theirs.access)
        && (objects.may_be_same(mine.object, theirs.object)
            || ANY_CHANNEL.contains(&mine)
            || ANY_CHANNEL.contains(&theirs))
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.touch == other.touch && self.op.code() == other.op.code() && self.more == other.more
    }
}

impl Hash for Event {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.touch.hash(state);
        self.op.code().hash(state);
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op.name())?;
        match self.line() {
            Some(site) => write!(f, " at {site}"),
            None => Ok(()),
        }
    }
}
