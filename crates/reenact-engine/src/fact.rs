//! Facts: what becomes true once, and what others may wait for without that being a choice.
//!
//! That a thread has ended, that the last sender of a channel is gone: nobody decides when such a thing happens, it
//! follows from what the activities do, and who makes it true may not even be known (the last owner of an `Arc` is
//! whoever drops it last). So a fact is no operation and nothing is recorded of it. What may be recorded is that
//! somebody asked ([`choose`](crate::choose)) and found it to be true; a replay then waits until it is.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::{activity::with_conducted, conduct, mode};

/// Something that becomes true once.
#[derive(Default, Debug)]
pub struct Fact {
    is_true: AtomicBool,
}

impl Fact {
    /// Not true yet.
    pub const fn new() -> Fact {
        Fact {
            is_true: AtomicBool::new(false),
        }
    }

    /// Makes it true.
    pub fn establish(&self) {
        self.is_true.store(true, SeqCst);
        if mode::is_conducted()
            && let Some((conductor, _)) = conduct::current()
        {
            conductor.established(self);
        }
    }

    /// Whether it is true now. The answer depends on timing; see [`choose`](crate::choose).
    pub fn is_established(&self) -> bool {
        self.is_true.load(SeqCst)
    }

    /// Where there is a conductor, returns when it is true; `what` is for people who want to know who waits for what.
    /// Elsewhere whoever needs to wait has its own way.
    pub fn wait_if_conducted(&self, what: &dyn Fn() -> String) {
        if mode::is_conducted() && !self.is_established() {
            with_conducted(|me| me.conductor.wait_for_fact(&me.activity, self, what));
        }
    }
}
