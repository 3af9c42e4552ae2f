//! Objects with two ends: what is put in at one is taken out at the other, in the same order.
//!
//! The n-th that comes to send meets the n-th that comes to receive, whichever of them comes first, so each end has an order of
//! its own. Who comes and finds nobody waits, in the model's own list, and is woken by who meets it.

use std::{hint::cold_path, panic::Location};

use crate::{
    Access, Announcement, Decision, Entity, Op, Outcome, Party, Touch,
    entity::{announce, done},
    mode::{self, Mode},
    record,
    replay::quiet,
};

/// One of the two ends of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Where something is put in.
    Sending,
    /// Where it is taken out.
    Receiving,
}

impl End {
    /// The other one.
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

/// What a channel is to a controller: an order for each of its ends.
pub struct Ends {
    orders: [Entity; 2],
    room: usize,
}

/// What one who selects from several operations is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selected {
    /// Whatever is possible.
    Any,
    /// What this recorded answer stands for. It has its own turn.
    Recorded(u64),
    /// This one, now; or none, because none is possible in time.
    Now(Option<usize>),
}

/// How long somebody waits who selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Patience {
    /// As long as it takes.
    Forever,
    /// For a limited time.
    Limited,
    /// Not at all.
    None,
}

impl Selected {
    /// What a trace says of a selection: which case has happened, the first being predicted; or that none has in time. The same
    /// whatever other cases there are, so that it does not mean something else in a program that has others.
    pub fn answer(case: Option<usize>) -> u64 {
        match case {
            Some(0) => 0,
            None => 1,
            Some(case) => case as u64 + 1,
        }
    }

    /// The case that has happened, by what a trace says.
    pub fn case(answer: u64) -> Option<usize> {
        match answer {
            0 => Some(0),
            1 => None,
            answer => Some(usize::try_from(answer - 1).unwrap_or(usize::MAX)),
        }
    }
}

impl Ends {
    /// With room for so many messages, made at the caller's line.
    #[track_caller]
    pub const fn new(room: usize) -> Ends {
        Ends {
            orders: [Entity::new(), Entity::new()],
            room,
        }
    }

    fn order(&self, end: End) -> &Entity {
        &self.orders[end as usize]
    }

    fn touch(&self, access: Access) -> Touch<'_> {
        Touch::new(&self.orders[0], access).with_room(self.room)
    }

    /// The calling activity is about to send, or to receive, and waits if it must. `ready` says whether it would not have to.
    #[inline]
    #[track_caller]
    pub fn arrive(&self, end: End, op: Op, ready: impl Fn() -> bool) -> Decision {
        if !mode::is_controlled() {
            return Decision::Free;
        }
        cold_path();
        if mode::byte() == Mode::Replay as u8 && quiet::take(self.order(end), op) {
            return Decision::Go;
        }
        self.arrive_controlled(end, op, &ready)
    }

    #[cold]
    #[track_caller]
    fn arrive_controlled(&self, end: End, op: Op, ready: &dyn Fn() -> bool) -> Decision {
        announce(&Announcement {
            entity: Some(self.order(end)),
            touches: &[self.touch(end.access())],
            ready: Some(ready),
            ..Announcement::new(op, Access::TryTake)
        })
    }

    /// Ends a timed send or receive: returns when it goes on, because somebody met it or because its time is up. False where
    /// the clock says which.
    #[cold]
    pub fn is_timed_out(&self, end: End, op: Op, site: &'static Location<'static>) -> bool {
        if !mode::is_observed() {
            return false;
        }
        let access = match end {
            End::Sending => Access::SendTimeout,
            End::Receiving => Access::ReceiveTimeout,
        };
        announce(&Announcement {
            touches: &[self.touch(access)],
            site,
            ..Announcement::new(op, access)
        }) == Decision::Free
    }

    /// It has been done, by the calling activity, which has the channel's lock.
    #[inline]
    pub fn taken(&self, end: End, op: Op) {
        self.order(end).taken(op);
    }

    /// It has been done by one who waits; the calling activity, which has the lock, says so.
    #[inline]
    pub fn taken_by(&self, end: End, op: Op, party: &Party) {
        self.order(end).taken_by(op, party);
    }

    /// The calling activity had come to send or to receive, and has stopped waiting for that.
    pub fn gave_up(&self, end: End, op: Op) {
        if mode::is_observed() {
            self.done(op, end.access(), Outcome::GaveUp);
        }
    }

    /// It has not been done, because there is nobody at the other end any more.
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

    /// What was let happen, with [`Decision::Go`], has happened.
    #[inline]
    #[track_caller]
    pub fn leave(&self, end: End, op: Op) {
        self.order(end).leave(op, Access::TryTake, || ());
    }

    /// The calling activity drops a handle of this end: `one_less` says whether it was the last.
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

    /// The calling activity is about to do one of several operations. `cases` are the channels and their ends; which of them
    /// are possible is asked when it is its turn.
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
        // It waits at one place, where others can find it.
        let is_alone = match cases {
            &[(ends, _)] => {
                patience == Patience::Forever || patience == Patience::Limited && ends.room == 0
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
            ready: (is_alone || patience == Patience::Forever).then_some(&is_any),
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
