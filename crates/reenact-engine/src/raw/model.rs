//! loom runs the parker, the locks and the table of waiting tasks in all ways.
//!
//! A lost wake-up is a deadlock, which loom reports. What one thread writes before it wakes another is in a cell whose
//! accesses loom checks: a race is reported as well.

use std::{sync::Arc, time::Instant};

use ::loom::cell::Cell;

use super::{Parker, RawMutex, RawRwLock, parking_table};
use crate::loom::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    model, model_bounded, spawn,
};

/// A value that threads pass to each other without a lock of its own.
struct Passed(Cell<u32>);

// SAFETY: loom reports accesses of the cell that are not ordered, instead of performing them.
unsafe impl Sync for Passed {}

impl Passed {
    fn nothing() -> Passed {
        Passed(Cell::new(0))
    }
}

/// ```text
/// waiter  park ............ read
/// waker   write, unpark
/// ```
#[test]
fn a_parked_thread_is_woken_and_sees_what_came_before() {
    model(|| {
        let both = Arc::new((Parker::default(), Passed::nothing()));
        let waker = Arc::clone(&both);
        let waker = spawn(move || {
            waker.1.0.set(1);
            waker.0.unpark();
        });
        both.0.park();
        assert_eq!(both.1.0.get(), 1);
        waker.join().unwrap();
    });
}

/// ```text
/// waiter  park (in vain), park (for good if it was) .... read
/// waker   write, unpark
/// ```
#[test]
fn a_notification_is_not_lost_to_a_wait_that_gives_up() {
    model(|| {
        let both = Arc::new((Parker::default(), Passed::nothing()));
        let waker = Arc::clone(&both);
        let waker = spawn(move || {
            waker.1.0.set(1);
            waker.0.unpark();
        });
        if !both.0.park_until(Some(Instant::now())) {
            both.0.park();
        }
        assert_eq!(both.1.0.get(), 1);
        waker.join().unwrap();
    });
}

/// ```text
/// waiter    park, park
/// waker 1   unpark      if the first park saw it, it was consumed: the second park needs another
/// waker 2       unpark
/// ```
#[test]
fn a_parker_is_used_again() {
    model(|| {
        let parker = Arc::new(Parker::default());
        let parked = Arc::new(AtomicU32::default());
        let (waker, seen) = (Arc::clone(&parker), Arc::clone(&parked));
        let waker = spawn(move || {
            waker.unpark();
            // The second one is sent when the first has been consumed.
            while seen.load(Acquire) == 0 {
                crate::loom::yield_now();
            }
            waker.unpark();
        });
        parker.park();
        parked.store(1, Release);
        parker.park();
        assert!(!parker.is_notified());
        waker.join().unwrap();
    });
}

/// In the table, a thread of loom's stands for each task: it sleeps in its parker.
///
/// ```text
/// task    wait while 0 .............. read
/// waker   write, change to 1, wake
/// ```
#[test]
fn a_task_at_an_address_is_woken() {
    model(|| {
        let both = Arc::new((AtomicU32::default(), Passed::nothing()));
        parking_table::is_threads_turn();
        let waker = Arc::clone(&both);
        let waker = spawn(move || {
            waker.1.0.set(1);
            waker.0.store(1, Release);
            parking_table::wake(&waker.0, 1);
        });
        while both.0.load(Acquire) == 0 {
            parking_table::wait_while(&both.0, 0, None);
        }
        assert_eq!(both.1.0.get(), 1);
        waker.join().unwrap();
    });
}

/// ```text
/// tasks   wait while 0 (both)
/// waker   change to 1, wake both
/// ```
#[test]
fn all_tasks_at_an_address_are_woken() {
    // Three threads: two preemptions are enough to get between any two steps of a task and of the waker.
    model_bounded(Some(2), || {
        let word = Arc::new(AtomicU32::default());
        parking_table::is_threads_turn();
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let word = Arc::clone(&word);
                spawn(move || {
                    while word.load(SeqCst) == 0 {
                        parking_table::wait_while(&word, 0, None);
                    }
                })
            })
            .collect();
        word.store(1, Relaxed);
        assert!(parking_table::wake(&word, 3) > 0, "there are only two");
        for task in tasks {
            task.join().unwrap();
        }
    });
}

/// Two threads (and the main one) lock, change the value and unlock; those that find the lock held sleep.
#[test]
fn a_mutex_excludes_others_and_wakes_them() {
    // The lock is short, and its sleepers are in another lock (the kernel): all orders are too many.
    model_bounded(Some(3), || {
        let both = Arc::new((RawMutex::default(), Passed::nothing()));
        parking_table::is_threads_turn();
        let add = |both: &(RawMutex, Passed)| {
            both.0.lock();
            both.1.0.set(both.1.0.get() + 1);
            both.0.unlock();
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let both = Arc::clone(&both);
                spawn(move || add(&both))
            })
            .collect();
        add(&both);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(both.1.0.get(), 3);
    });
}

/// A writer writes and becomes a reader; the others are a reader and another writer.
#[test]
fn a_reader_writer_lock_excludes_others_and_wakes_them() {
    // As for the mutex.
    model_bounded(Some(2), || {
        let both = Arc::new((RawRwLock::default(), Passed::nothing()));
        parking_table::is_threads_turn();
        let reader = Arc::clone(&both);
        let reader = spawn(move || {
            reader.0.read();
            let value = reader.1.0.get();
            reader.0.unlock_read();
            value
        });
        let writer = Arc::clone(&both);
        let writer = spawn(move || {
            writer.0.write();
            writer.1.0.set(writer.1.0.get() + 1);
            writer.0.unlock_write();
        });
        both.0.write();
        both.1.0.set(both.1.0.get() + 1);
        both.0.downgrade();
        assert!(both.1.0.get() > 0);
        both.0.unlock_read();
        writer.join().unwrap();
        assert!(reader.join().unwrap() <= 2);
        assert_eq!(both.1.0.get(), 2);
    });
}
