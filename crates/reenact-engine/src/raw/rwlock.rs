//! A lock that many read or one writes.

use super::{SPINS, spin_while, wait_while, wake, wake_all};
use crate::loom::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// A reader-writer lock of two words.
///
/// # State
///
/// | bits of `state` | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `HELD` | the number of readers | `try_read`, `read`, `downgrade` | `unlock_read` |
/// | `HELD`, all of them (`WRITER`) | a writer holds the lock | `try_write`, `write` | `unlock_write`, `downgrade` |
/// | `READERS_WAIT` | a reader may sleep, on `state` | a reader before it sleeps | who wakes all readers |
/// | `WRITERS_WAIT` | a writer may sleep, on `writers_woken` | a writer before it sleeps and after it wakes | who wakes a writer |
///
/// `writers_woken` counts how often a writer was woken. A writer reads it before it looks at `state` for the last time
/// and sleeps only while it has not changed.
///
/// # Invariants
///
/// 1. A bit for waiters is set before one of them sleeps. Who clears it wakes: all readers, or one writer.
/// 2. A writer that has slept takes the lock with `WRITERS_WAIT`, since others may still sleep.
/// 3. Whoever makes the lock free and leaves a bit for waiters behind clears it; unless another activity has taken the
///    lock meanwhile, which then does.
/// 4. No reader joins while `READERS_WAIT` is set. Otherwise the lock would not become free, and those that sleep would
///    not be woken, although they could read.
///
/// New readers wait while a writer does, so that writers get their turn. A reader that has slept does not: it has let a
/// writer pass already.
#[derive(Default)]
pub struct RawRwLock {
    state: AtomicU32,
    writers_woken: AtomicU32,
}

const HELD: u32 = (1 << 30) - 1;
const WRITER: u32 = HELD;
/// As many as std's lock has on Linux.
const MOST_READERS: u32 = WRITER - 1;
const READERS_WAIT: u32 = 1 << 30;
const WRITERS_WAIT: u32 = 1 << 31;

impl RawRwLock {
    /// A free lock.
    pub const fn new() -> RawRwLock {
        RawRwLock {
            state: AtomicU32::new(0),
            writers_woken: AtomicU32::new(0),
        }
    }

    /// Takes the lock for reading, unless a writer holds it or waits for it.
    #[inline(always)]
    pub fn try_read(&self) -> bool {
        self.try_join(READERS_WAIT | WRITERS_WAIT).is_ok()
    }

    /// Becomes one of the readers, unless a writer holds the lock, one of the bits `obstacles` is set, or there are too
    /// many readers; then returns the state.
    #[inline(always)]
    fn try_join(&self, obstacles: u32) -> Result<(), u32> {
        let mut state = self.state.load(Relaxed);
        loop {
            if state & obstacles != 0 || state & HELD >= MOST_READERS {
                return Err(state);
            }
            // Acquire: pairs with the Release in `unlock_write` and `downgrade`.
            match self
                .state
                .compare_exchange_weak(state, state + 1, Acquire, Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Takes the lock for reading, sleeping while a writer holds it.
    #[inline]
    pub fn read(&self) {
        if !self.try_read() {
            self.read_contended();
        }
    }

    #[cold]
    fn read_contended(&self) {
        self.spin();
        let mut obstacles = READERS_WAIT | WRITERS_WAIT;
        loop {
            let Err(state) = self.try_join(obstacles) else {
                return;
            };
            assert!(state & HELD != MOST_READERS, "too many readers of a lock");
            let waiting = state | READERS_WAIT;
            if state != waiting
                && self
                    .state
                    .compare_exchange(state, waiting, Relaxed, Relaxed)
                    .is_err()
            {
                continue;
            }
            wait_while(&self.state, waiting, None);
            obstacles = READERS_WAIT;
            self.spin();
        }
    }

    /// Takes the lock for writing if it is free.
    #[inline(always)]
    pub fn try_write(&self) -> bool {
        self.try_own(WRITER).is_ok()
    }

    /// Becomes the writer, and sets the bits `bits`, if the lock is free; otherwise returns the state.
    #[inline(always)]
    fn try_own(&self, bits: u32) -> Result<(), u32> {
        let mut state = self.state.load(Relaxed);
        loop {
            if state & HELD != 0 {
                return Err(state);
            }
            // Acquire: pairs with the Release in `unlock_write` and `unlock_read`.
            match self
                .state
                .compare_exchange_weak(state, state | bits, Acquire, Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(now) => state = now,
            }
        }
    }

    /// Takes the lock for writing, sleeping while another activity holds it.
    #[inline]
    pub fn write(&self) {
        if !self.try_write() {
            self.write_contended();
        }
    }

    #[cold]
    fn write_contended(&self) {
        self.spin();
        let mut bits = WRITER;
        loop {
            // Acquire: pairs with the Release in `wake_waiters`. If this is the new value, so is that of the state.
            let woken = self.writers_woken.load(Acquire);
            let Err(state) = self.try_own(bits) else {
                return;
            };
            let waiting = state | WRITERS_WAIT;
            if state != waiting
                && self
                    .state
                    .compare_exchange(state, waiting, Relaxed, Relaxed)
                    .is_err()
            {
                continue;
            }
            wait_while(&self.writers_woken, woken, None);
            bits = WRITER | WRITERS_WAIT;
            self.spin();
        }
    }

    /// Spins for a while until the writer is done, as long as nobody sleeps.
    fn spin(&self) {
        spin_while(SPINS, || self.state.load(Relaxed) == WRITER);
    }

    /// Releases the lock, which the caller holds for reading.
    #[inline(always)]
    pub fn unlock_read(&self) {
        // Release: pairs with the Acquire of the next writer.
        let state = self.state.fetch_sub(1, Release) - 1;
        if state & HELD == 0 && state != 0 {
            self.wake_waiters(state);
        }
    }

    /// Releases the lock, which the caller holds for writing.
    #[inline(always)]
    pub fn unlock_write(&self) {
        // Release: pairs with the Acquire of the next reader or writer.
        let state = self.state.fetch_sub(WRITER, Release) - WRITER;
        if state != 0 {
            self.wake_waiters(state);
        }
    }

    /// Makes the caller, who holds the lock for writing, a reader.
    pub fn downgrade(&self) {
        // Release: pairs with the Acquire of the next reader.
        let state = self.state.fetch_sub(WRITER - 1, Release);
        if state & READERS_WAIT != 0 {
            // Only its holder clears the bit, and the lock cannot become free meanwhile.
            self.state.fetch_and(!READERS_WAIT, Relaxed);
            wake_all(&self.state);
        }
    }

    /// Wakes those that wait for the lock, which was free in this state.
    #[cold]
    fn wake_waiters(&self, mut state: u32) {
        while state != 0 && state & HELD == 0 {
            match self.state.compare_exchange(state, 0, Relaxed, Relaxed) {
                Ok(_) => {
                    if state & WRITERS_WAIT != 0 {
                        // Release: pairs with the Acquire in `write_contended`.
                        self.writers_woken.fetch_add(1, Release);
                        wake(&self.writers_woken, 1);
                    }
                    if state & READERS_WAIT != 0 {
                        wake_all(&self.state);
                    }
                    return;
                }
                Err(now) => state = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::UnsafeCell, sync::Barrier};

    use super::*;

    struct Pair(RawRwLock, UnsafeCell<(u64, u64)>);
    // SAFETY: The tests write the cell only under the lock for writing, and read it only under the lock.
    unsafe impl Sync for Pair {}

    impl Pair {
        fn new() -> Pair {
            Pair(RawRwLock::new(), UnsafeCell::new((0, 0)))
        }

        fn check(&self) {
            // SAFETY: The caller holds the lock for reading.
            let (first, second) = unsafe { *self.1.get() };
            assert_eq!(first, second);
        }

        fn increment(&self) {
            // SAFETY: The caller holds the lock for writing.
            let pair = unsafe { &mut *self.1.get() };
            pair.0 += 1;
            pair.1 += 1;
        }
    }

    #[test]
    fn no_increment_is_lost_or_seen_in_part() {
        let pair = &Pair::new();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    for round in 0..10_000 {
                        pair.0.write();
                        pair.increment();
                        if (writer + round) % 3 == 0 {
                            pair.0.downgrade();
                            pair.check();
                            pair.0.unlock_read();
                        } else {
                            pair.0.unlock_write();
                        }
                    }
                });
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        pair.0.read();
                        pair.check();
                        pair.0.unlock_read();
                    }
                });
            }
        });
        assert_eq!(pair.0.state.load(Relaxed), 0);
        // SAFETY: All threads have ended.
        assert_eq!(unsafe { *pair.1.get() }, (40_000, 40_000));
    }

    #[test]
    fn a_try_fails_while_it_would_have_to_wait() {
        let lock = RawRwLock::new();
        assert!(lock.try_read());
        assert!(lock.try_read());
        assert!(!lock.try_write());
        lock.unlock_read();
        lock.unlock_read();
        assert!(lock.try_write());
        assert!(!lock.try_read());
        assert!(!lock.try_write());
        lock.downgrade();
        assert!(lock.try_read());
        assert!(!lock.try_write());
    }

    #[test]
    fn there_are_as_many_readers_as_of_a_lock_of_std() {
        let lock = RawRwLock::new();
        lock.state.store((1 << 30) - 3, Relaxed);
        assert!(lock.try_read());
        assert!(!lock.try_read(), "one more would look like a writer");
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lock.read())).is_err());
        lock.unlock_read();
        assert!(lock.try_read());
    }

    /// ```text
    /// writer   write, downgrade, wait for both readers, unlock
    /// readers  read (sleep) .... meet the writer, unlock
    /// ```
    #[test]
    fn readers_that_slept_read_together_after_a_downgrade() {
        let (lock, meeting) = (RawRwLock::new(), Barrier::new(3));
        lock.write();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    lock.read();
                    meeting.wait();
                    lock.unlock_read();
                });
            }
            while lock.state.load(Relaxed) & READERS_WAIT == 0 {
                std::thread::yield_now();
            }
            lock.downgrade();
            meeting.wait();
            lock.unlock_read();
        });
        assert_eq!(lock.state.load(Relaxed), 0);
    }
}
