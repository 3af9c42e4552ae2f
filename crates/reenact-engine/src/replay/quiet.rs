//! The fast path of replay: operations that the trace says nothing about.
//!
//! As long as an activity has silent operations before it and takes entities that it took last itself, there is nobody
//! to ask and nothing to wait for. It counts, as recording did, and goes on; only giving an entity back must tell
//! whoever waits.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, Release},
};

use super::{ending, turns::end_take};
use crate::{Entity, Op, activity::Hot, record::counted};

/// How far an activity can go alone. Changed by its own thread only. Others may look: who finds that nothing is left, also
/// finds what was counted until then.
#[derive(Default)]
pub(crate) struct Quiet {
    /// Silent operations before the next item of the trace.
    pub(super) left: AtomicU32,
    /// Counter and hash, as in recording.
    word: AtomicU64,
}

impl Quiet {
    #[inline(always)]
    pub(super) fn count(&self, tag: u64) {
        let word = counted(self.word.load(Relaxed), tag);
        self.word.store(word, Relaxed);
    }

    pub(super) fn hash(&self) -> u32 {
        (self.word.load(Relaxed) >> 32) as u32
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
    let left = quiet.left.load(Relaxed);
    if left == 0 {
        return false;
    }
    quiet.count(entity.tag(op));
    // Release: pairs with the Acquire in `Cursor::silent_left`.
    quiet.left.store(left - 1, Release);
    true
}

/// Ends a take.
#[inline(always)]
pub(crate) fn leave(entity: &Entity) {
    if end_take(entity) {
        ending::wake(entity);
    }
}
