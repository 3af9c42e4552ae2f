//! Blocking: the locks and the parking place that the operations themselves are made of.
//!
//! These know nothing of modes or traces. They are here, and not std's, for two reasons: [`RawMutex`] compiles to
//! the two locked instructions and nothing that has to be spilled around them, which is what leaves room for
//! recording; and everything that blocks does it in here, where a thread sleeps in the kernel and a task of a
//! [pool](crate::pool) is put aside instead. Whoever waits at an address is found by it: threads by the kernel, tasks in
//! a table of our own (`raw/lot.rs`); whoever waits to be told by one who knows it has a [`Parker`].

mod brief;
mod lot;
mod parker;

use std::{
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Duration, Instant},
};

pub use self::{brief::BriefLock, parker::Parker};

use rustix::{
    io::Errno,
    thread::futex::{self, Flags, Timespec},
};

use crate::{
    explore,
    external::apart,
    pool::{about_to_block, carrier::Carrier},
};

/// The time, as it is: not part of the program, and so neither recorded nor played.
pub fn now() -> Instant {
    apart(Instant::now)
}

/// Waits while `*futex == expected`, until `deadline` at most. False if the deadline has passed.
fn wait_while(futex: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if let Some(carrier) = Carrier::current() {
        return lot::wait_while(carrier, futex, expected, deadline);
    }
    let _blocked = about_to_block();
    sleep_while(futex, expected, deadline)
}

/// As [`wait_while`], for a thread, whatever it runs.
fn sleep_while(futex: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    if explore::is_here() && (deadline.is_some() || explore::wait_while(futex, expected)) {
        // Where it is explored, time is up when nothing else happens.
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
            // Interrupted or changed meanwhile: look again. Timed out: the clock decides above.
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
    if lot::is_threads_turn() {
        left -= wake_threads(futex, left);
    }
    left = lot::wake(futex, left);
    if left > 0 {
        wake_threads(futex, left);
    }
}

/// How many were woken.
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
/// | 1 | held, nobody sleeps | `try_lock`, `lock` on first sight | `unlock` |
/// | 2 | held, someone may sleep | `lock` before it sleeps, and by whoever wakes | `unlock`, which wakes one |
///
/// # Invariants
///
/// 1. Who sleeps has set 2 before; so whoever finds 2 at `unlock` wakes one, and no sleeper is forgotten.
/// 2. Who has slept takes the lock with 2, since others may sleep still.
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

    /// Takes the lock, sleeping while another has it.
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

    /// Looks a while for the lock to become free, as long as nobody sleeps yet.
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

    /// Gives the lock back. The caller has it.
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

/// A condition to wait for, with a [`RawMutex`].
///
/// The word counts notifications. Who waits reads it before giving up the lock and sleeps only while it has not
/// changed; a notification in between is therefore not lost.
#[derive(Default)]
pub struct RawCondvar {
    notifications: AtomicU32,
}

impl RawCondvar {
    /// A condition for which nobody waits.
    pub const fn new() -> RawCondvar {
        RawCondvar {
            notifications: AtomicU32::new(0),
        }
    }

    /// Gives up `mutex`, sleeps until notified or until the time is up, takes `mutex` again. Whether it was notified.
    pub fn wait(&self, mutex: &RawMutex, timeout: Option<Duration>) -> bool {
        let seen = self.notifications.load(Relaxed);
        mutex.unlock();
        // A deadline past what the clock can say is none.
        let deadline = timeout.and_then(|timeout| now().checked_add(timeout));
        let notified = wait_while(&self.notifications, seen, deadline);
        mutex.lock();
        notified
    }

    /// Wakes one who waits.
    pub fn notify_one(&self) {
        self.notifications.fetch_add(1, Relaxed);
        wake(&self.notifications, 1);
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        self.notifications.fetch_add(1, Relaxed);
        wake(&self.notifications, i32::MAX as u32);
    }
}

/// Sleeps while `*word == expected`, until `deadline` at most. False if the deadline has passed.
pub(crate) fn wait(word: &AtomicU32, expected: u32, deadline: Option<Instant>) -> bool {
    wait_while(word, expected, deadline)
}

/// Sleeps while `*word == expected`. Safe to call in a signal handler.
pub(crate) fn sleep_on(word: &AtomicU32, expected: u32) {
    let _ = futex::wait(word, Flags::PRIVATE, expected, None);
}

/// The calling thread does nothing any more, whatever it runs.
pub(crate) fn sleep_for_good() -> ! {
    loop {
        sleep_on(&AtomicU32::new(0), 0);
    }
}

/// Wakes everyone who sleeps on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    wake(word, i32::MAX as u32);
}

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;

    use super::*;

    struct Counter(RawMutex, UnsafeCell<u64>);
    // SAFETY: The test touches the cell only under the lock.
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
                        // SAFETY: Under the lock.
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
