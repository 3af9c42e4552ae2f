//! The fast path of replay: operations that the trace says nothing about.
//!
//! As long as an activity has silent operations before it and takes entities that it took last itself, there is nobody
//! to ask and nothing to wait for. It counts, as recording did, and goes on; only giving an entity back must tell
//! whoever waits.

use std::{cell::Cell, sync::atomic::Ordering::Relaxed};

use super::{ending, turns::end_take};
use crate::{Entity, Op, activity::Hot, record::counted};

/// How far an activity can go alone. Used by its own thread only.
#[derive(Default)]
pub(crate) struct Quiet {
    /// Silent operations before the next item of the trace.
    pub(super) left: Cell<u32>,
    /// Counter and hash, as in recording.
    word: Cell<u64>,
}

impl Quiet {
    #[inline(always)]
    pub(super) fn count(&self, tag: u64) {
        self.word.set(counted(self.word.get(), tag));
    }

    pub(super) fn hash(&self) -> u32 {
        (self.word.get() >> 32) as u32
    }
}

/// Takes an entity, if that needs nobody's consent. The caller has it already as far as others are concerned.
#[inline(always)]
pub(crate) fn take(entity: &Entity, op: Op) -> bool {
    let quiet = Hot::quiet();
    if entity.last.load(Relaxed) != Hot::token() || quiet.is_null() {
        return false;
    }
    // SAFETY: The replay sets the pointer on this thread, to what belongs to the runner of this thread's activity; it is
    // cleared when the thread lets go of the activity, before the runner goes.
    let quiet = unsafe { &*quiet };
    let left = quiet.left.get();
    if left == 0 {
        return false;
    }
    quiet.left.set(left - 1);
    quiet.count(entity.tag(op));
    true
}

/// Ends a take.
#[inline(always)]
pub(crate) fn leave(entity: &Entity) {
    if end_take(entity) {
        ending::wake(entity);
    }
}
