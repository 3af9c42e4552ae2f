//! The fast path of replay: operations about which the trace says nothing.
//!
//! As long as an activity has silent operations left and takes objects that it was the last to take, it neither waits
//! nor consults the controller. It counts the operation, as recording did, and goes on; only a release has to check for
//! waiters.

use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Relaxed, Release, SeqCst},
    },
};

use super::{
    ending,
    reception::MessageOrder,
    turns::{end_take, is_wanted},
};
use crate::{Arrival, Object, Op, activity::Hot, record::counted};

/// How far an activity can go without the controller. Only its own thread changes this. Other threads may read it: one
/// that reads 0 in `left` also sees what was counted before.
///
/// Aligned, so that light activities on different cores do not share a cache line.
#[derive(Default)]
#[repr(align(64))]
pub(crate) struct FastPath {
    /// Silent operations before the next item of the trace.
    pub(super) left: AtomicU32,
    /// The number of operations before the one of the next item, if that is one.
    pub(super) end: AtomicU64,
    /// Counter and hash, as in recording.
    word: AtomicU64,
    /// For a light activity: the order of its messages. Accessed by the thread that runs the activity, or while no
    /// activity can move.
    reception: UnsafeCell<Option<MessageOrder>>,
}

// SAFETY: `reception` is accessed only by the thread that runs the activity, or while no activity can move: its
// accessor requires that. Everything else is atomic.
unsafe impl Sync for FastPath {}

impl FastPath {
    /// Creates the state of a light activity.
    pub(super) fn light(reception: MessageOrder) -> FastPath {
        FastPath {
            reception: UnsafeCell::new(Some(reception)),
            ..FastPath::default()
        }
    }

    /// Returns the order of a light activity's messages.
    ///
    /// # Safety
    ///
    /// The calling thread runs the activity, or no activity can move; and the caller drops the reference before it
    /// calls this again.
    #[expect(clippy::mut_from_ref)]
    pub(super) unsafe fn reception(&self) -> &mut MessageOrder {
        // SAFETY: The caller guarantees exclusive access.
        let reception = unsafe { &mut *self.reception.get() };
        reception.as_mut().expect("a light activity")
    }

    /// Handles a message if it is the predicted one; returns whether it is.
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
        // SAFETY: The caller guarantees that this thread runs the activity, and no other reference is alive.
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

    /// Returns the number of operations done. For probes and the log, which may not access the cursor.
    pub(crate) fn position(&self) -> u64 {
        let left = self.left.load(Relaxed).into();
        self.end.load(Relaxed).saturating_sub(left)
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

/// Takes an object on the fast path; returns false if that is not possible. The caller already holds the object as far
/// as other activities are concerned.
#[inline(always)]
pub(crate) fn take(object: &Object, op: Op) -> bool {
    let fast_path = Hot::fast_path();
    if object.last.load(Relaxed) != Hot::token() || fast_path.is_null() {
        return false;
    }
    // SAFETY: Replay sets the pointer on this thread, to memory of the runner of this thread's activity. It is cleared
    // when the thread gives up the activity, before the runner is dropped.
    let fast_path = unsafe { &*fast_path };
    let left = fast_path.left.load(Relaxed);
    if left == 0 {
        return false;
    }
    fast_path.count(object.tag(op));
    // Release: pairs with the Acquire in `Cursor::silent_left`.
    fast_path.left.store(left - 1, Release);
    true
}

/// Whether the activity may take the object on the fast path. Does not count the operation.
#[inline(always)]
pub(crate) fn may_take(object: &Object) -> bool {
    let fast_path = Hot::fast_path();
    // SAFETY: The pointer is null or valid, as explained in `take`.
    object.last.load(Relaxed) == Hot::token()
        && unsafe { fast_path.as_ref() }.is_some_and(|fast_path| fast_path.left.load(Relaxed) > 0)
}

/// Counts the operation that [`may_take`] allowed.
pub(crate) fn count(object: &Object, op: Op) {
    // SAFETY: The pointer is null or valid, as explained in `take`.
    if let Some(fast_path) = unsafe { Hot::fast_path().as_ref() } {
        fast_path.count(object.tag(op));
        // Release: pairs with the Acquire in `Cursor::silent_left`.
        fast_path
            .left
            .store(fast_path.left.load(Relaxed).saturating_sub(1), Release);
    }
}

/// Wakes activities that wait for the object's current version, after the version has changed or a look has ended.
pub(crate) fn wake_next(object: &Object) {
    if is_wanted(object, object.version.load(SeqCst)) {
        ending::wake(object);
    }
}

/// Ends a take.
#[inline(always)]
pub(crate) fn leave(object: &Object) {
    if end_take(object) {
        ending::wake(object);
    }
}
