//! Timers: call a function after some time.
//!
//! When a timer fires depends on the clock, and nothing is recorded of it: its effect is recorded where it arrives. In
//! a replay every timer fires at once, and the recorded order does the rest. Under exploration a timer is an activity
//! of its own, and when it fires is a choice of the schedule.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    Birth, explore,
    external::{stay_untracked, untracked},
    mode,
    raw::now,
    replay::not_as_itself,
};

/// When a timer fires whose time the clock cannot represent: in thirty years.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Calls `fire` after `delay`, on some thread.
pub fn fire_after(delay: Duration, fire: impl FnOnce() + Send + 'static) {
    if explore::is_here() {
        fire_some_time(fire);
    } else if mode::is_controlled() {
        // In an exploration a timer is an activity of its own, so these operations are not those of the activity that
        // set it.
        not_as_itself(fire);
    } else {
        clock().add(Timer {
            due: now().checked_add(delay).unwrap_or_else(|| now() + FAR),
            fire: Box::new(fire),
        });
    }
}

#[cold]
fn fire_some_time(fire: impl FnOnce() + Send + 'static) {
    let birth = Birth::announce_on_fiber("timer");
    if let (Some(number), Some(execution)) = (birth.number(), explore::here()) {
        let body = move || {
            let _life = birth.begin();
            // At the end of an execution it may be unwound instead.
            let _ = catch_unwind(AssertUnwindSafe(fire));
        };
        // SAFETY: The body borrows nothing.
        unsafe { execution.start(number, body) };
    }
}

struct Timer {
    due: Instant,
    fire: Box<dyn FnOnce() + Send>,
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

/// The pending timers, and the thread that waits for them.
struct TimerQueue {
    timers: Mutex<BinaryHeap<Reverse<Timer>>>,
    changed: Condvar,
}

fn clock() -> &'static Arc<TimerQueue> {
    static CLOCK: OnceLock<Arc<TimerQueue>> = OnceLock::new();
    CLOCK.get_or_init(|| {
        let clock = Arc::new(TimerQueue {
            timers: Mutex::default(),
            changed: Condvar::new(),
        });
        let watched = Arc::clone(&clock);
        let thread = std::thread::Builder::new().name("timers".to_owned());
        untracked(|| thread.spawn(move || watched.watch())).expect("a thread for timers");
        clock
    })
}

impl TimerQueue {
    fn add(&self, timer: Timer) {
        let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.push(Reverse(timer));
        self.changed.notify_one();
    }

    fn watch(&self) {
        stay_untracked();
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
                        (timer.fire)();
                    }
                    timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}
