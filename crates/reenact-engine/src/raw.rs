//! Blocking: the locks and parkers that the operations themselves are made of.
//!
//! These know nothing of modes or traces. They are used instead of std's for two reasons: [`RawMutex`] compiles to the
//! two locked instructions and nothing that has to be spilled around them, which is what leaves room for recording; and
//! everything that blocks does it here, where a thread sleeps in the kernel and a task of a [pool](crate::pool) is
//! suspended instead. Waiters at an address are found by it: threads by the kernel, tasks in a table of our own
//! (`raw/parking_table.rs`). A waiter that its waker knows has a [`Parker`].

mod brief;
mod parker;
mod parking_table;
mod rwlock;

use std::{
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Duration, Instant},
};

pub use self::{brief::BriefLock, parker::Parker, rwlock::RawRwLock};

use rustix::{
    io::Errno,
    thread::futex::{self, Flags, Timespec},
};

use crate::{
    explore,
    external::untracked,
    pool::{about_to_block, carrier::Carrier},
};

/// Returns the real time. Untracked: neither recorded nor played.
pub fn now() -> Instant {
    untracked(Instant::now)
}

/// Waits while `*futex == expected`, until `deadline` at most. Returns false if the deadline has passed.
fn wait_while(futex: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if let Some(carrier) = Carrier::current() {
        return parking_table::wait_while(carrier, futex, expected, deadline);
    }
    let _blocked = about_to_block();
    sleep_while(futex, expected, deadline)
}

/// Like [`wait_while`], but blocks the thread, whatever it runs.
fn sleep_while(futex: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if explore::is_here() && (deadline.is_some() || explore::wait_while(futex, expected)) {
        // Under exploration a time limit is over at once.
        return deadline.is_none() || futex.load(Relaxed) != expected;
    }
    loop {
        if futex.load(Relaxed) != expected {
            return true;
        }
        let timeout = match deadline {
            None => None,
            Some(deadline) => {
                let left = deadline.saturating_duration_since(now());
                if left.is_zero() {
                    return false;
                }
                Some(Timespec {
                    tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                    tv_nsec: left.subsec_nanos().into(),
                })
            }
        };
        match futex::wait(futex, Flags::PRIVATE, expected, timeout.as_ref()) {
            // Interrupted or changed meanwhile: check again. Timed out: the clock decides above.
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {
                if deadline.is_none() || futex.load(Relaxed) != expected {
                    return true;
                }
            }
            Err(error) => panic!("futex: {error}"),
        }
    }
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

/// Wakes threads and returns how many were woken.
fn wake_threads(futex: &AtomicU32, count: u32) -> u32 {
    // Cannot fail for an address that is mapped.
    futex::wake(futex, Flags::PRIVATE, count).map_or(0, |woken| woken as u32)
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
        let mut left = 100;
        loop {
            let state = self.state.load(Relaxed);
            if state != 1 || left == 0 {
                return state;
            }
            std::hint::spin_loop();
            left -= 1;
        }
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

/// Sleeps while `*word == expected`, until `deadline` at most. Returns false if the deadline has passed.
pub(crate) fn wait(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    wait_while(word, expected, deadline)
}

/// Sleeps while `*word == expected`. Safe to call in a signal handler.
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32) {
    let _ = futex::wait(word, Flags::PRIVATE, expected, None);
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

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;

    use super::*;

    struct Counter(RawMutex, UnsafeCell<u64>);
    // SAFETY: The test accesses the cell only under the lock.
    unsafe impl Sync for Counter {}

    #[test]
    fn no_increment_under_the_lock_is_lost() {
        let counter = Counter(RawMutex::new(), UnsafeCell::new(0));
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

    #[test]
    fn a_wait_without_notification_times_out() {
        let (mutex, condvar) = (RawMutex::new(), RawCondvar::new());
        mutex.lock();
        assert!(!condvar.wait(&mutex, Some(Duration::from_millis(1))));
        assert!(!mutex.try_lock(), "the lock is held again");
    }
}
