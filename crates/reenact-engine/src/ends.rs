//! Objects with two ends: items are put in at one and taken out at the other, in the same order.
//!
//! The n-th send meets the n-th receive, whichever comes first, so each end has an order of its own. An activity that
//! finds no counterpart waits, in the model's own list, and is woken by the activity that meets it.

use std::{hint::cold_path, panic::Location};

use crate::{
    Access, Announcement, Decision, Object, Op, Outcome, Party, Touch,
    mode::{self, Mode},
    object::{announce, done},
    record,
    replay::fast_path,
};

/// One of the two ends of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Items are put in here.
    Sending,
    /// Items are taken out here.
    Receiving,
}

impl End {
    /// Returns the other end.
    #[must_use]
    pub fn other(self) -> End {
        match self {
            End::Sending => End::Receiving,
            End::Receiving => End::Sending,
        }
    }

    fn access(self) -> Access {
        match self {
            End::Sending => Access::Send,
            End::Receiving => Access::Receive,
        }
    }

    fn access_if_possible(self) -> Access {
        match self {
            End::Sending => Access::TrySend,
            End::Receiving => Access::TryReceive,
        }
    }
}

/// A channel as a controller sees it: an order for each of its ends.
pub struct Ends {
    orders: [Object; 2],
    room: usize,
}

/// What a selection among several operations is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selected {
    /// Any case that is possible.
    Any,
    /// The case of this recorded answer, which waits for its own turn.
    Recorded(u64),
    /// This case, now; or none, because none is possible in time.
    Now(Option<usize>),
}

/// How long a selection waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// Without a time limit.
    Forever,
    /// For a limited time.
    Limited,
    /// For a time that is limited but does not expire.
    Unlimited,
    /// Not at all.
    None,
}

impl Selected {
    /// Returns what a trace says of a selection: the index of the case that happened, where the first is predicted, or
    /// that none did in time. It does not depend on the number of cases, so that it keeps its meaning in a program that
    /// has others.
    pub fn answer(case: Option<usize>) -> u64 {
        match case {
            Some(0) => 0,
            None => 1,
            Some(case) => case as u64 + 1,
        }
    }

    /// Returns the case that happened according to a trace.
    pub fn case(answer: u64) -> Option<usize> {
        match answer {
            0 => Some(0),
            1 => None,
            answer => Some(usize::try_from(answer - 1).unwrap_or(usize::MAX)),
        }
    }
}

impl Ends {
    /// A channel with this capacity, created at the caller's line.
    #[track_caller]
    pub const fn new(room: usize) -> Ends {
        Ends {
            orders: [Object::new(), Object::new()],
            room,
        }
    }

    fn order(&self, end: End) -> &Object {
        &self.orders[end as usize]
    }

    fn touch(&self, access: Access) -> Touch<'_> {
        Touch::new(&self.orders[0], access).with_room(self.room)
    }

    /// Announces that the calling activity is about to send or receive, and blocks if it must. `ready` returns whether
    /// it could do so without blocking.
    #[inline]
    #[track_caller]
    pub fn arrive(&self, end: End, op: Op, ready: impl Fn() -> bool) -> Decision {
        if !mode::is_controlled() {
            return Decision::Free;
        }
        cold_path();
        if mode::byte() == Mode::Replay as u8 && fast_path::take(self.order(end), op) {
            return Decision::Go;
        }
        self.arrive_controlled(end, op, &ready)
    }

    #[cold]
    #[track_caller]
    fn arrive_controlled(&self, end: End, op: Op, ready: &dyn Fn() -> bool) -> Decision {
        announce(&Announcement {
            object: Some(self.order(end)),
            touches: &[self.touch(end.access())],
            ready: Some(ready),
            ..Announcement::new(op, Access::TryTake)
        })
    }

    /// Ends the timed wait for one of these operations: under a controller, returns when the activity continues, because
    /// one of them was met or because its time is up. Otherwise returns at once: the clock decides. `is_met` returns
    /// whether the operation of this index has been met.
    #[cold]
    pub fn end_timed<'a>(
        op: Op,
        cases: impl Iterator<Item = (&'a Ends, End)>,
        is_met: &dyn Fn(usize) -> bool,
        site: &'static Location<'static>,
    ) {
        if !mode::is_observed() {
            return;
        }
        let touches: Vec<_> = cases
            .map(|(ends, end)| {
                ends.touch(match end {
                    End::Sending => Access::SendTimeout,
                    End::Receiving => Access::ReceiveTimeout,
                })
            })
            .collect();
        let Some(first) = touches.first() else {
            return;
        };
        announce(&Announcement {
            touches: &touches,
            possible: (touches.len() > 1).then_some(is_met),
            site,
            ..Announcement::new(op, first.access)
        });
    }

    /// Notes that the calling activity, which holds the channel's lock, has sent or received.
    #[inline]
    pub fn taken(&self, end: End, op: Op) {
        self.order(end).taken(op);
    }

    /// Notes that a party that waits has sent or received. The calling activity holds the lock.
    #[inline]
    pub fn taken_by(&self, end: End, op: Op, party: &Party) {
        self.order(end).taken_by(op, party);
    }

    /// Reports that the calling activity, which had announced a send or receive, has stopped waiting.
    pub fn gave_up(&self, end: End, op: Op) {
        if mode::is_observed() {
            self.done(op, end.access(), Outcome::GaveUp);
        }
    }

    /// Reports that a send or receive failed because the other end is disconnected.
    #[cold]
    pub fn declined(&self, end: End, op: Op) {
        if mode::byte() == Mode::Record as u8 {
            record::decline(op);
        } else if mode::is_observed() {
            self.done(op, end.access(), Outcome::Disconnected);
        }
    }

    #[track_caller]
    fn done(&self, op: Op, access: Access, outcome: Outcome<'_>) {
        let announcement = Announcement {
            touches: &[self.touch(access)],
            ..Announcement::new(op, access)
        };
        done(&announcement, outcome);
    }

    /// Reports that an operation that was allowed with [`Decision::Go`] has happened.
    #[inline]
    #[track_caller]
    pub fn leave(&self, end: End, op: Op) {
        self.order(end).leave(op, Access::TryTake, || ());
    }

    /// Announces that the calling activity drops a handle of this end. `one_less` drops it and returns whether it was
    /// the last.
    #[inline]
    #[track_caller]
    pub fn drop_handle(&self, end: End, op: Op, one_less: impl FnOnce() -> bool) -> bool {
        if !mode::is_observed() {
            return one_less();
        }
        cold_path();
        let access = match end {
            End::Sending => Access::DropSender,
            End::Receiving => Access::DropReceiver,
        };
        let touches = [self.touch(access)];
        let announcement = Announcement {
            touches: &touches,
            ..Announcement::new(op, access)
        };
        announce(&announcement);
        let is_last = one_less();
        done(&announcement, Outcome::Dropped { is_last });
        is_last
    }

    /// Announces that the calling activity is about to do one of several operations. `cases` are the channels and their
    /// ends; `possible` is called when it is the activity's turn.
    #[inline]
    #[track_caller]
    pub fn select<'a>(
        op: Op,
        cases: impl Fn() -> Vec<(&'a Ends, End)>,
        patience: Patience,
        possible: impl Fn(usize) -> bool,
    ) -> Selected {
        if !mode::is_controlled() {
            return Selected::Any;
        }
        cold_path();
        Ends::select_controlled(op, &cases(), patience, &possible)
    }

    #[cold]
    #[track_caller]
    fn select_controlled<'a>(
        op: Op,
        cases: &[(&'a Ends, End)],
        patience: Patience,
        possible: &dyn Fn(usize) -> bool,
    ) -> Selected {
        // It waits at a single channel, where others can meet it.
        let is_alone = match cases {
            &[(ends, _)] => {
                let is_timed = matches!(patience, Patience::Limited | Patience::Unlimited);
                patience == Patience::Forever || is_timed && ends.room == 0
            }
            _ => false,
        };
        let touch = |&(ends, end): &(&'a Ends, End)| match is_alone {
            true => ends.touch(end.access()),
            false => ends.touch(end.access_if_possible()),
        };
        let touches: Vec<_> = cases.iter().map(touch).collect();
        let all = || (0..cases.len()).filter(|&case| possible(case));
        let is_any = || all().next().is_some();
        let count = || all().count() as u32;
        let announcement = Announcement {
            touches: &touches,
            ready: (is_alone || matches!(patience, Patience::Forever | Patience::Unlimited))
                .then_some(&is_any),
            ways: (!is_alone).then_some(&count),
            possible: (!is_alone).then_some(possible),
            is_timed: patience == Patience::Limited,
            ..Announcement::new(op, Access::Ask)
        };
        match announce(&announcement) {
            Decision::Answer(answer) => Selected::Recorded(answer),
            _ if is_alone => Selected::Any,
            Decision::Way(way) => {
                let chosen = all().nth(way as usize);
                if let Some(case) = chosen {
                    done(&announcement, Outcome::Happened(case));
                }
                Selected::Now(chosen)
            }
            _ => Selected::Any,
        }
    }
}
