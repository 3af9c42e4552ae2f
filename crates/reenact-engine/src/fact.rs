//! Facts: what becomes true once, and what others may wait for without that being a choice.
//!
//! That a thread has ended, that the last sender of a channel is gone: nobody decides when such a thing happens, it
//! follows from what the activities do, and who makes it true may not even be known (the last owner of an `Arc` is
//! whoever drops it last). So a fact is no operation and nothing is recorded of it. What may be recorded is that
//! somebody asked ([`choose`](crate::choose)) and found it to be true; a replay then waits until it is.

use std::{
    sync::atomic::{
        AtomicU32,
        Ordering::{Relaxed, Release, SeqCst},
    },
    time::Instant,
};

use crate::{Spot, controller, mode, raw};

/// Something that becomes true once.
///
/// # State
///
/// 0 not yet, 1 not yet and someone may sleep until it is, 2 true.
#[derive(Default, Debug)]
pub struct Fact {
    state: AtomicU32,
    /// Where it is explored: by what number it is known why it became true, and one more.
    moment: AtomicU32,
}

const AWAITED: u32 = 1;
const TRUE: u32 = 2;

impl Fact {
    /// Not true yet.
    pub const fn new() -> Fact {
        Fact {
            state: AtomicU32::new(0),
            moment: AtomicU32::new(0),
        }
    }

    /// Where it is explored: by what number it is known why it became true.
    pub(crate) fn moment(&self) -> Option<u32> {
        self.moment.load(SeqCst).checked_sub(1)
    }

    /// It is known by this number why it became true.
    pub(crate) fn note_moment(&self, moment: u32) {
        self.moment.store(moment + 1, Release);
    }

    /// Nobody remembers that it was true.
    pub(crate) fn forget(&self) {
        self.state.store(0, Relaxed);
        self.moment.store(0, Relaxed);
    }

    /// Makes it true.
    #[inline]
    pub fn establish(&self) {
        if self.state.swap(TRUE, SeqCst) == AWAITED {
            raw::wake_all(&self.state);
        }
        if mode::is_controlled() {
            controller::unpark(Spot::Fact(self));
        }
    }

    /// Whether it is true now. The answer depends on timing; see [`choose`](crate::choose).
    pub fn is_established(&self) -> bool {
        self.state.load(SeqCst) == TRUE
    }

    /// Returns when it is true; `what` is for people who want to know who waits for what.
    pub fn wait(&self, what: &(dyn Fn() -> String + Sync)) {
        self.wait_if_controlled(what);
        while !self.is_established() {
            let _ = self.state.compare_exchange(0, AWAITED, SeqCst, SeqCst);
            raw::wait(&self.state, AWAITED, None);
        }
    }

    /// As [`Fact::wait`], until `deadline` at most. Whether it is true. Not for a controlled process, in which no time
    /// passes.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        while !self.is_established() {
            let _ = self.state.compare_exchange(0, AWAITED, SeqCst, SeqCst);
            if !raw::wait(&self.state, AWAITED, Some(deadline)) {
                return self.is_established();
            }
        }
        true
    }

    /// Where there is a controller, returns when it is true; `what` is for people who want to know who waits for what.
    /// Elsewhere whoever needs to wait has its own way.
    pub fn wait_if_controlled(&self, what: &(dyn Fn() -> String + Sync)) {
        if mode::is_controlled() {
            controller::park(Spot::Fact(self), what);
        }
    }
}
