//! A lock for a few instructions.

use std::sync::atomic::{
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
        let mut looks = 0u32;
        loop {
            if !self.is_held.load(Relaxed) && !self.is_held.swap(true, Acquire) {
                return;
            }
            looks += 1;
            if looks < 100 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
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

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;

    use super::*;

    struct Counter(BriefLock, UnsafeCell<u64>);
    // SAFETY: The test accesses the cell only under the lock.
    unsafe impl Sync for Counter {}

    #[test]
    fn no_increment_under_the_lock_is_lost() {
        let counter = Counter(BriefLock::new(), UnsafeCell::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let counter = &counter;
                    for _ in 0..20_000 {
                        counter.0.lock();
                        // SAFETY: The lock is held.
                        unsafe { *counter.1.get() += 1 };
                        counter.0.unlock();
                    }
                });
            }
        });
        assert_eq!(counter.1.into_inner(), 80_000);
    }
}
