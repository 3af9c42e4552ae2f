//! Blocking: the locks and parkers that the operations themselves are made of.
//!
//! These know nothing of modes or traces. They are used instead of std's for two reasons: [`RawMutex`] compiles to the
//! two locked instructions and nothing that has to be spilled around them, which is what leaves room for recording; and
//! everything that blocks does it here, where a thread sleeps in the kernel and a task of a [pool](crate::pool) is
//! suspended instead. Waiters at an address are found by it: threads by the kernel, tasks in a table of our own
//! (`raw/parking_table.rs`). A waiter that its waker knows has a [`Parker`].

mod brief;
#[cfg_attr(all(test, loom), path = "raw/futex_modelled.rs")]
mod futex;
#[cfg(all(test, loom))]
mod model;
mod parker;
mod parking_table;
mod rwlock;
mod spin;
#[cfg(test)]
mod tests;
mod waiter_table;

use std::time::{Duration, Instant};

pub use self::{
    brief::BriefLock,
    parker::Parker,
    rwlock::RawRwLock,
    spin::yield_while,
    waiter_table::{WaiterKey, WaiterTable, Waiters},
};
pub(crate) use self::{futex::sleep_on, spin::spin_while};

use self::{
    futex::{sleep_while, wake_threads},
    spin::SPINS,
};
use crate::{
    external::untracked,
    loom::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
    pool::{about_to_block, carrier::Carrier},
};

/// Returns the real time. Untracked: neither recorded nor played.
pub fn now() -> Instant {
    untracked(Instant::now)
}

/// Returns whether a wait with this time limit waits without one in an exploration, in which any other limit may expire:
/// the clock cannot represent its end.
#[inline]
pub fn is_unlimited(limit: Duration) -> bool {
    // Of what the clock can represent, half is left for its present reading, so that the answer does not depend on it.
    const MOST: u64 = i64::MAX as u64 / 2;
    limit.as_secs() > MOST && crate::explore::is_here()
}

/// Returns whether this time has come. Under a controller, which decides when a wait is over, no time passes.
#[inline]
pub fn has_passed(deadline: Instant) -> bool {
    !crate::mode::is_controlled() && now() >= deadline
}

/// Waits while `*word == expected`, until `deadline` at most. Returns false if the deadline has passed.
pub(crate) fn wait_while(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if Carrier::current().is_some() {
        return parking_table::wait_while(word, expected, deadline);
    }
    let _blocked = about_to_block();
    sleep_while(word, expected, deadline)
}

fn wake(futex: &AtomicU32, count: u32) {
    let mut left = count;
    if parking_table::is_threads_turn() {
        left -= wake_threads(futex, left);
    }
    left = parking_table::wake(futex, left);
    if left > 0 {
        wake_threads(futex, left);
    }
}

/// A lock of one word.
///
/// # State
///
/// | value | meaning | set by | cleared by |
/// |---|---|---|---|
/// | 0 | free | `unlock` | |
/// | 1 | held, no thread sleeps | `try_lock`, `lock` on its first attempt | `unlock` |
/// | 2 | held, a thread may sleep | `lock` before it sleeps and after it wakes | `unlock`, which wakes one |
///
/// # Invariants
///
/// 1. A thread sets 2 before it sleeps; so an `unlock` that finds 2 wakes one, and no sleeper is forgotten.
/// 2. A thread that has slept takes the lock with 2, since others may still sleep.
#[derive(Default)]
pub struct RawMutex {
    state: AtomicU32,
}

impl RawMutex {
    /// A free lock.
    pub const fn new() -> RawMutex {
        RawMutex {
            state: AtomicU32::new(0),
        }
    }

    /// Takes the lock if it is free.
    #[inline(always)]
    pub fn try_lock(&self) -> bool {
        // Acquire: pairs with the Release in `unlock`.
        self.state.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    /// Takes the lock, sleeping while another holds it.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            self.lock_contended();
        }
    }

    #[cold]
    fn lock_contended(&self) {
        let mut state = self.spin();
        if state == 0 {
            match self.state.compare_exchange(0, 1, Acquire, Relaxed) {
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
        loop {
            if state != 2 && self.state.swap(2, Acquire) == 0 {
                return;
            }
            wait_while(&self.state, 2, None);
            state = self.spin();
        }
    }

    /// Spins for a while until the lock is free, as long as no thread sleeps.
    fn spin(&self) -> u32 {
        let mut state = 1;
        spin_while(SPINS, || {
            state = self.state.load(Relaxed);
            state == 1
        });
        state
    }

    /// Releases the lock, which the caller holds.
    #[inline(always)]
    pub fn unlock(&self) {
        // Release: pairs with the Acquire of the next `try_lock`.
        if self.state.swap(0, Release) == 2 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        wake(&self.state, 1);
    }
}

/// A condition variable, used with a [`RawMutex`].
///
/// The word counts notifications. A waiter reads it before it releases the lock and sleeps only while it has not
/// changed; a notification in between is therefore not lost.
#[derive(Default)]
pub struct RawCondvar {
    notifications: AtomicU32,
}

impl RawCondvar {
    /// A condition variable without waiters.
    pub const fn new() -> RawCondvar {
        RawCondvar {
            notifications: AtomicU32::new(0),
        }
    }

    /// Releases `mutex`, sleeps until notified or until the time is up, and takes `mutex` again. Returns whether it was
    /// notified.
    pub fn wait(&self, mutex: &RawMutex, timeout: Option<Duration>) -> bool {
        let seen = self.notifications.load(Relaxed);
        mutex.unlock();
        // A deadline that the clock cannot represent is no deadline.
        let deadline = timeout.and_then(|timeout| now().checked_add(timeout));
        let notified = wait_while(&self.notifications, seen, deadline);
        mutex.lock();
        notified
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        self.notifications.fetch_add(1, Relaxed);
        wake(&self.notifications, 1);
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.notifications.fetch_add(1, Relaxed);
        wake(&self.notifications, i32::MAX as u32);
    }
}

/// Blocks the calling thread permanently, whatever it runs.
pub(crate) fn sleep_for_good() -> ! {
    loop {
        sleep_on(&AtomicU32::new(0), 0);
    }
}

/// Wakes all that sleep on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    wake(word, i32::MAX as u32);
}
