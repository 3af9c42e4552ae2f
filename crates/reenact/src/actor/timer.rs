//! Timers: promises that time resolves.
//!
//! A timer is something from outside: when it fires is up to the clock. Nothing of that is recorded but where its
//! continuation came in the order of its actor's turns; in a replay every timer fires at once, and the order does
//! the rest.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use reenact_engine::{
    Birth, explore, is_replaying,
    pool::{Expected, Pool},
    raw::now,
    stay_apart,
};

use super::{Promise, promise::Debt};

/// A promise that is resolved after `delay`.
#[track_caller]
pub(super) fn after(pool: Pool, delay: Duration) -> Promise<()> {
    let (promise, debt) = Promise::owed();
    if explore::is_explored() {
        fire_some_time(debt, pool.expect_work());
    } else if is_replaying() {
        debt.settle(Ok(()));
    } else {
        clock().add(Timer {
            due: now() + delay,
            debt,
            expected: pool.expect_work(),
        });
    }
    promise
}

/// Where it is explored, a timer is an activity of its own: when it fires is a choice of the schedule.
#[cold]
fn fire_some_time(debt: Debt<()>, expected: Expected) {
    let birth = Birth::announce(Some("timer"));
    let number = birth.number();
    let fire = move || {
        let _life = birth.begin();
        // At the end of an execution it may be told to leave instead.
        let _ = catch_unwind(AssertUnwindSafe(|| debt.settle(Ok(()))));
        drop(expected);
    };
    if let Some(number) = number {
        // SAFETY: It borrows nothing.
        unsafe { explore::start(number, fire) };
    }
}

struct Timer {
    due: Instant,
    debt: Debt<()>,
    /// The pool is not quiet before it has fired.
    expected: Expected,
}

impl Timer {
    fn fire(self) {
        self.debt.settle(Ok(()));
        drop(self.expected);
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Timer) -> bool {
        self.due == other.due
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Timer) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Timer) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

/// What waits for its time, and the thread that watches it.
struct Clock {
    timers: Mutex<BinaryHeap<Reverse<Timer>>>,
    changed: Condvar,
}

fn clock() -> &'static Arc<Clock> {
    static CLOCK: OnceLock<Arc<Clock>> = OnceLock::new();
    CLOCK.get_or_init(|| {
        let clock = Arc::new(Clock {
            timers: Mutex::default(),
            changed: Condvar::new(),
        });
        let watched = Arc::clone(&clock);
        std::thread::Builder::new()
            .name("timers".to_owned())
            .spawn(move || watched.watch())
            .expect("a thread for timers");
        clock
    })
}

impl Clock {
    fn add(&self, timer: Timer) {
        let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.push(Reverse(timer));
        self.changed.notify_one();
    }

    fn watch(&self) {
        stay_apart();
        let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = now();
            match timers.peek().map(|Reverse(timer)| timer.due) {
                None => {
                    timers = self
                        .changed
                        .wait(timers)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                Some(due) if due > now => {
                    let wait = self.changed.wait_timeout(timers, due - now);
                    timers = wait.unwrap_or_else(PoisonError::into_inner).0;
                }
                Some(_) => {
                    let due = timers.pop();
                    drop(timers);
                    if let Some(Reverse(timer)) = due {
                        timer.fire();
                    }
                    timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
