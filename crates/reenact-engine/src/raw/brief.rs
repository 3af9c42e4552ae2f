//! A lock for a few instructions.

use super::yield_while;
use crate::loom::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

/// A lock that is held for a few instructions, never while waiting for something else.
///
/// Releasing it is a plain store, half the cost of a lock whose owner must learn whether a thread sleeps. No thread
/// does: the lock is free again sooner than a sleeper could be woken, unless the system has just preempted the holder;
/// then the others yield to it.
#[derive(Default)]
pub struct BriefLock {
    is_held: AtomicBool,
}

impl BriefLock {
    /// A free lock.
    pub const fn new() -> BriefLock {
        BriefLock {
            is_held: AtomicBool::new(false),
        }
    }

    /// Takes the lock.
    #[inline(always)]
    pub fn lock(&self) {
        // Acquire: pairs with the Release in `unlock`.
        if self.is_held.swap(true, Acquire) {
            self.lock_contended();
        }
    }

    #[cold]
    fn lock_contended(&self) {
        loop {
            yield_while(|| self.is_held.load(Relaxed));
            if !self.is_held.swap(true, Acquire) {
                return;
            }
        }
    }

    /// Releases the lock, which the caller holds.
    #[inline(always)]
    pub fn unlock(&self) {
        // Release: pairs with the Acquire in `lock`.
        self.is_held.store(false, Release);
    }
}
