//! Tests of the locks and of the condition variable.

use std::{cell::UnsafeCell, time::Duration};

use super::*;

struct Counter<L>(L, UnsafeCell<u64>);

// SAFETY: The only access to the cell while threads share it is in `no_increment_is_lost`, under the lock.
unsafe impl<L: Sync> Sync for Counter<L> {}

fn no_increment_is_lost<L: Default + Sync>(lock: fn(&L), unlock: fn(&L)) {
    let counter = Counter(L::default(), UnsafeCell::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let counter = &counter;
                for _ in 0..20_000 {
                    lock(&counter.0);
                    // SAFETY: This thread holds the lock, and the others access the cell only here.
                    unsafe { *counter.1.get() += 1 };
                    unlock(&counter.0);
                }
            });
        }
    });
    assert_eq!(counter.1.into_inner(), 80_000);
}

#[test]
fn no_increment_under_a_mutex_is_lost() {
    no_increment_is_lost(RawMutex::lock, RawMutex::unlock);
}

#[test]
fn no_increment_under_a_brief_lock_is_lost() {
    no_increment_is_lost(BriefLock::lock, BriefLock::unlock);
}

#[test]
fn a_wait_without_notification_times_out() {
    let (mutex, condvar) = (RawMutex::new(), RawCondvar::new());
    mutex.lock();
    assert!(!condvar.wait(&mutex, Some(Duration::from_millis(1))));
    assert!(!mutex.try_lock(), "the lock is held again");
}
