//! What a step does, as far as others are concerned, and which steps are dependent on each other.

use std::{
    fmt,
    hash::{Hash, Hasher},
    panic::Location,
    sync::Arc,
};

use super::names::Things;
use crate::{Op, OpInfo};

/// How an activity meets a thing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// Takes it for itself.
    Take,
    /// Shares it with others who look.
    Look,
    /// Takes it for itself if it can have it at once.
    TryTake,
    /// Shares it if it can at once.
    TryLook,
    /// Gives it back. A step only where somebody tries: others could not tell when it happens.
    Release,
    /// Reads what it holds.
    Read,
    /// Changes what it holds.
    Write,
    /// Puts something into it, after what others have put there.
    Send,
    /// Takes out what was put there first.
    Receive,
    /// Puts something into it if there is room at once.
    TrySend,
    /// Takes something out if there is anything at once.
    TryReceive,
    /// Will not send any more.
    StopSending,
    /// Will not receive any more.
    StopReceiving,
    /// Lets those who try find it waiting.
    Arrive,
    /// Begins to wait for a signal.
    Wait,
    /// Goes on after a signal, or because its time is up.
    Wake {
        /// Whether its time may be up.
        timed: bool,
    },
    /// Signals.
    Notify,
    /// Does all that its transaction does.
    Transact,
    /// Asks a question whose answer may depend on anything.
    Ask,
    /// Lets whoever explores choose.
    Choose,
}

impl How {
    /// Whether the order of the two can be told, if they meet the same thing and either can be next.
    #[inline]
    pub(super) fn conflicts(self, other: How) -> bool {
        CONFLICTS[self.index()] & 1 << other.index() != 0
    }

    /// The same, found out slowly.
    const fn do_conflict(self, other: How) -> bool {
        use How::*;
        match (self, other) {
            (Look | TryLook, Look | TryLook) => false,
            (Take | Look | TryTake | TryLook, Take | Look | TryTake | TryLook) => true,
            (Release, TryTake | TryLook) | (TryTake | TryLook, Release) => true,
            (Read, Read) => false,
            (Read | Write, Read | Write) => true,
            (Send | TrySend, Send | TrySend) | (Receive | TryReceive, Receive | TryReceive) => true,
            (TrySend, Receive | TryReceive) | (Receive | TryReceive, TrySend) => true,
            (TryReceive, Send) | (Send, TryReceive) => true,
            (StopSending, TryReceive) | (TryReceive, StopSending) => true,
            (Arrive, TrySend | TryReceive) | (TrySend | TryReceive, Arrive) => true,
            (StopReceiving, Send | TrySend) | (Send | TrySend, StopReceiving) => true,
            (Wait | Wake { timed: true } | Notify, Notify)
            | (Notify, Wait | Wake { timed: true }) => true,
            (Transact, Transact) => true,
            _ => false,
        }
    }

    /// Its place among all.
    #[inline]
    const fn index(self) -> usize {
        match self {
            How::Take => 0,
            How::Look => 1,
            How::TryTake => 2,
            How::TryLook => 3,
            How::Release => 4,
            How::Read => 5,
            How::Write => 6,
            How::Send => 7,
            How::Receive => 8,
            How::TrySend => 9,
            How::TryReceive => 10,
            How::StopSending => 11,
            How::StopReceiving => 12,
            How::Arrive => 13,
            How::Wait => 14,
            How::Wake { timed: true } => 15,
            How::Wake { timed: false } => 16,
            How::Notify => 17,
            How::Transact => 18,
            How::Ask => 19,
            How::Choose => 20,
        }
    }

    /// A number for it.
    pub(super) fn code(self) -> u8 {
        self.index() as u8
    }

    /// The one that has this number.
    pub(super) fn from_code(code: u8) -> Option<How> {
        ALL.get(code as usize).copied()
    }

    /// Whether whatever comes after this one comes after the other, too, if that came before it.
    #[inline]
    pub(super) fn stands_for(self, other: How) -> bool {
        CONFLICTS[other.index()] & !CONFLICTS[self.index()] == 0 || self.index() == other.index()
    }
}

/// With which others each of them conflicts, a bit for each.
const CONFLICTS: [u32; ALL.len()] = {
    let mut conflicts = [0; ALL.len()];
    let mut one = 0;
    while one < ALL.len() {
        assert!(ALL[one].index() == one, "in their order");
        let mut other = 0;
        while other < ALL.len() {
            let do_conflict = ALL[one].do_conflict(ALL[other]);
            assert!(
                ALL[other].do_conflict(ALL[one]) == do_conflict,
                "either way"
            );
            conflicts[one] |= (do_conflict as u32) << other;
            other += 1;
        }
        one += 1;
    }
    conflicts
};

/// All of them.
const ALL: [How; 21] = [
    How::Take,
    How::Look,
    How::TryTake,
    How::TryLook,
    How::Release,
    How::Read,
    How::Write,
    How::Send,
    How::Receive,
    How::TrySend,
    How::TryReceive,
    How::StopSending,
    How::StopReceiving,
    How::Arrive,
    How::Wait,
    How::Wake { timed: true },
    How::Wake { timed: false },
    How::Notify,
    How::Transact,
    How::Ask,
    How::Choose,
];

/// A thing that an activity meets, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Touch {
    pub(crate) how: How,
    pub(crate) thing: u32,
}

/// The thing of what meets none.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What an activity does in one step.
#[derive(Clone)]
pub struct Event {
    pub(crate) op: Op,
    /// The line of the program that asked for it.
    pub(crate) site: &'static Location<'static>,
    pub(crate) touch: Touch,
    /// What else it meets.
    pub(crate) more: Option<Arc<[Touch]>>,
}

impl Event {
    /// What somebody does who does nothing.
    #[track_caller]
    pub(super) fn nothing() -> Event {
        const NOTHING_AT_ALL: Op = Op::new(&OpInfo {
            code: 0,
            name: "nothing",
        });
        Event {
            op: NOTHING_AT_ALL,
            site: Location::caller(),
            touch: Touch {
                how: How::Choose,
                thing: NOTHING,
            },
            more: None,
        }
    }

    /// All that it meets.
    pub(crate) fn touches(&self) -> impl Iterator<Item = Touch> {
        std::iter::once(self.touch).chain(self.more.iter().flat_map(|more| more.iter().copied()))
    }

    /// Whether this one, which is about to happen, may have been that one when it had. Who panics meets more than it was about to.
    pub(super) fn may_become(&self, happened: &Event) -> bool {
        let has_more = || self.more.is_none() || self.more == happened.more;
        self.touch == happened.touch && self.op.code() == happened.op.code() && has_more()
    }

    /// Whether the order of the two can be told.
    pub(super) fn is_dependent(&self, other: &Event, things: &Things) -> bool {
        if self.touch.how == How::Ask || other.touch.how == How::Ask {
            return true;
        }
        if self.more.is_none() && other.more.is_none() {
            return conflict(self.touch, other.touch, things);
        }
        // Of a transaction that has run it is known what it met; before, it may meet anything.
        let are_known = self.more.is_some() && other.more.is_some();
        self.touches().any(|mine| {
            other.touches().any(|theirs| {
                let is_surely_apart = are_known && mine.how == How::Transact;
                !is_surely_apart && conflict(mine, theirs, things)
            })
        })
    }
}

#[inline]
fn conflict(mine: Touch, theirs: Touch, things: &Things) -> bool {
    mine.how.conflicts(theirs.how) && things.may_be_same(mine.thing, theirs.thing)
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
        write!(f, "{} at {}", self.op.name(), self.site)
    }
}
