//! The fast path of replay: operations that the trace says nothing about.
//!
//! As long as an activity has silent operations before it and takes entities that it took last itself, there is nobody
//! to ask and nothing to wait for. It counts, as recording did, and goes on; only giving an entity back must tell
//! whoever waits.

use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Relaxed, Release, SeqCst},
    },
};

use super::{
    ending,
    reception::Reception,
    turns::{end_take, is_wanted},
};
use crate::{Arrival, Entity, Op, activity::Hot, record::counted};

/// How far an activity can go alone. Changed by its own thread only. Others may look: who finds that nothing is left, also
/// finds what was counted until then.
///
/// Aligned, so that light activities that run on different cores do not share a line.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct Quiet {
    /// Silent operations before the next item of the trace.
    pub(super) left: AtomicU32,
    /// Counter and hash, as in recording.
    word: AtomicU64,
    /// For a light activity: the order of its messages. For who runs it, or where nobody can move.
    reception: UnsafeCell<Option<Reception>>,
}

// SAFETY: The order of messages is touched by who runs the activity, see there; everything else is atomic.
unsafe impl Sync for Quiet {}

impl Quiet {
    /// For a light activity, whose messages come in the order that this knows.
    pub(super) fn light(reception: Reception) -> Quiet {
        Quiet {
            reception: UnsafeCell::new(Some(reception)),
            ..Quiet::default()
        }
    }

    /// The order of a light activity's messages.
    ///
    /// # Safety
    ///
    /// The calling thread runs the activity, or nobody can move; and it lets go of it before it asks again.
    #[expect(clippy::mut_from_ref)]
    pub(super) unsafe fn reception(&self) -> &mut Reception {
        // SAFETY: The caller's.
        let reception = unsafe { &mut *self.reception.get() };
        reception.as_mut().expect("a light activity")
    }

    /// Handles a message, if it is known to be the one that is next. For who runs the activity.
    ///
    /// # Safety
    ///
    /// The calling thread runs the activity, which is a light one.
    #[inline]
    pub(crate) unsafe fn receive(&self, arrival: Arrival, tag: u64) -> bool {
        let left = self.left.load(Relaxed);
        if left == 0 {
            return false;
        }
        // SAFETY: The caller's.
        let reception = unsafe { self.reception() };
        if reception.predicted() != arrival {
            return false;
        }
        reception.as_predicted();
        self.count(tag);
        // Release: pairs with the Acquire in `Cursor::silent_left`.
        self.left.store(left - 1, Release);
        true
    }

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

/// Whether the activity may take the entity without anybody's consent. Nothing is counted yet.
#[inline(always)]
pub(crate) fn may_take(entity: &Entity) -> bool {
    let quiet = Hot::quiet();
    // SAFETY: As in `take`.
    entity.last.load(Relaxed) == Hot::token()
        && unsafe { quiet.as_ref() }.is_some_and(|quiet| quiet.left.load(Relaxed) > 0)
}

/// Counts what [`may_take`] allowed.
pub(crate) fn count(entity: &Entity, op: Op) {
    // SAFETY: As in `take`.
    if let Some(quiet) = unsafe { Hot::quiet().as_ref() } {
        quiet.count(entity.tag(op));
        // Release: pairs with the Acquire in `Cursor::silent_left`.
        quiet
            .left
            .store(quiet.left.load(Relaxed).saturating_sub(1), Release);
    }
}

/// The entity is at another version, or somebody has looked at it: wakes who waits for that.
pub(crate) fn wake_next(entity: &Entity) {
    if is_wanted(entity, entity.version.load(SeqCst)) {
        ending::wake(entity);
    }
}

/// Ends a take.
#[inline(always)]
pub(crate) fn leave(entity: &Entity) {
    if end_take(entity) {
        ending::wake(entity);
    }
}
