//! What a step does, as far as others are concerned, and which steps are dependent on each other.

use std::{
    fmt,
    hash::{Hash, Hasher},
    panic::Location,
    sync::Arc,
};

use super::{
    names::{Families, Things},
    schedule::Line,
};
use crate::{Access, Op, OpInfo, OperationKind, Values, site::Site};

/// A thing that an activity meets, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Touched {
    pub(crate) access: Access,
    pub(crate) thing: u32,
}

/// The thing of what meets none.
pub(crate) const NOTHING: u32 = u32::MAX;

impl Touched {
    /// What somebody does who meets nothing.
    pub(crate) fn nothing(access: Access) -> Touched {
        Touched {
            access,
            thing: NOTHING,
        }
    }
}

/// What an activity does in one step.
#[derive(Clone)]
pub struct Event {
    pub(crate) op: Op,
    /// The line at which it was announced.
    pub(crate) site: &'static Location<'static>,
    /// The line of the program behind that, if it is another one and somebody wants to know.
    pub(crate) behind: Option<&'static Site>,
    pub(crate) touch: Touched,
    /// What else it meets.
    pub(crate) more: Option<Arc<[Touched]>>,
    /// What people want to know of a message that is sent or handled. The event is the same whatever it says.
    pub(crate) about: Option<Arc<About>>,
}

/// What people want to know of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct About {
    /// What it is, such as `double(12)`.
    pub(crate) label: String,
    /// Who gets it, for one that is sent; for one that was, who has sent it.
    pub(crate) peer: u32,
    /// Where it was sent, for one that was, if that is known.
    pub(crate) sent_at: Option<Option<&'static Site>>,
}

impl Event {
    /// What somebody does who does nothing.
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

    /// What it does, for people, and where: of a message that is sent, what that is; of one that is handled, who has sent it from
    /// where, too.
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

    /// The line of the program that asked for it, as far as it is known.
    pub(crate) fn line(&self) -> Option<Site> {
        match self.behind {
            Some(behind) => Some(*behind),
            None => Site::announced(self.site),
        }
    }

    /// What a debugger takes it for. Giving back what an operation took has no name of its own in every model.
    pub(crate) fn kind(&self) -> OperationKind {
        match self.touch.access {
            Access::Release => OperationKind::Unlock,
            _ => self.op.kind(),
        }
    }

    /// All that it meets.
    pub(crate) fn touches(&self) -> impl Iterator<Item = Touched> {
        std::iter::once(self.touch).chain(self.more.iter().flat_map(|more| more.iter().copied()))
    }

    /// Whether this one, which is about to happen, may have been that one when it had. Who panics meets more than it was about to.
    pub(super) fn may_become(&self, happened: &Event) -> bool {
        let has_more = || self.more.is_none() || self.more == happened.more;
        self.touch == happened.touch && self.op.code() == happened.op.code() && has_more()
    }

    /// Whether the order of the two can be told.
    pub(super) fn is_dependent(&self, other: &Event, things: &Things) -> bool {
        if self.touch.access == Access::Ask || other.touch.access == Access::Ask {
            return true;
        }
        if self.more.is_none() && other.more.is_none() {
            return conflict(self.touch, other.touch, things);
        }
        // Of a transaction that has run it is known what it met; before, it may meet anything.
        let are_known = self.more.is_some() && other.more.is_some();
        self.touches().any(|mine| {
            other.touches().any(|theirs| {
                let is_surely_apart = are_known && mine.access == Access::Transact;
                !is_surely_apart && conflict(mine, theirs, things)
            })
        })
    }
}

#[inline]
fn conflict(mine: Touched, theirs: Touched, things: &Things) -> bool {
    mine.access.conflicts(theirs.access) && things.may_be_same(mine.thing, theirs.thing)
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
