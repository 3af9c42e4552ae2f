//! Latches: conditions that become true once, and that others may wait for without that being a choice.
//!
//! A thread has ended; the last sender of a channel has been dropped. No activity decides when such a condition becomes
//! true: it follows from what the activities do, and it may not even be known which one makes it true (the last owner
//! of an `Arc` is whichever drops it last). So establishing a latch is not an operation, and nothing is recorded of it.
//! What may be recorded is that an activity asked ([`choose`](crate::choose)) and found it to be true; a replay then
//! waits until it is.

#[cfg(all(test, loom))]
mod model;

use std::time::Instant;

#[cfg(feature = "explore")]
use crate::loom::Ordering::{Relaxed, Release};
use crate::{
    Spot, controller,
    loom::{AtomicU32, Ordering::SeqCst},
    mode, raw,
};

/// A condition that becomes true once.
///
/// # State
///
/// 0 not yet, 1 not yet and a thread may sleep until it is, 2 true.
#[derive(Default, Debug)]
pub struct Latch {
    state: AtomicU32,
    /// Under exploration: one more than the number of the moment at which it became true.
    #[cfg(feature = "explore")]
    moment: AtomicU32,
}

const AWAITED: u32 = 1;
const TRUE: u32 = 2;

impl Latch {
    /// A latch that is not established.
    pub const fn new() -> Latch {
        Latch {
            state: AtomicU32::new(0),
            #[cfg(feature = "explore")]
            moment: AtomicU32::new(0),
        }
    }

    /// Makes the condition true and wakes all that wait for it.
    #[inline]
    pub fn establish(&self) {
        if self.state.swap(TRUE, SeqCst) == AWAITED {
            raw::wake_all(&self.state);
        }
        if mode::is_controlled() {
            controller::unpark(Spot::Latch(self));
        }
    }

    /// Returns whether it is true now. The answer depends on timing; see [`choose`](crate::choose).
    pub fn is_established(&self) -> bool {
        self.state.load(SeqCst) == TRUE
    }

    /// Waits until it is true; `what` describes for people what is waited for.
    pub fn wait(&self, what: &(dyn Fn() -> String + Sync)) {
        self.wait_if_controlled(what);
        self.wait_while_unestablished(None);
    }

    /// Like [`Latch::wait`], until `deadline` at most. Returns whether it is true. Not for a controlled process, in
    /// which no time passes.
    pub fn wait_until(&self, deadline: Instant) -> bool {
        self.wait_while_unestablished(Some(deadline))
    }

    fn wait_while_unestablished(&self, deadline: Option<Instant>) -> bool {
        while !self.is_established() {
            let _ = self.state.compare_exchange(0, AWAITED, SeqCst, SeqCst);
            if !raw::wait_while(&self.state, AWAITED, deadline) {
                return self.is_established();
            }
        }
        true
    }

    /// Waits until it is true if there is a controller; `what` describes for people what is waited for. Without a
    /// controller the caller waits in its own way.
    pub fn wait_if_controlled(&self, what: &(dyn Fn() -> String + Sync)) {
        if mode::is_controlled() {
            controller::park(Spot::Latch(self), what);
        }
    }
}

#[cfg(feature = "explore")]
impl Latch {
    /// Under exploration: returns the number of the moment at which it became true.
    pub(crate) fn moment(&self) -> Option<u32> {
        self.moment.load(SeqCst).checked_sub(1)
    }

    /// Notes the number of the moment at which it became true.
    pub(crate) fn note_moment(&self, moment: u32) {
        self.moment.store(moment + 1, Release);
    }

    /// Resets it.
    pub(crate) fn forget(&self) {
        self.state.store(0, Relaxed);
        self.moment.store(0, Relaxed);
    }
}
