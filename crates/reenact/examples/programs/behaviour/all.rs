//! How `thread` and `sync` behave, whoever they are of.
//!
//! Each function here holds one behaviour. They are written against `subject`, which is std or reenact. The tests run
//! them with both, which says that they are right and that reenact does the same; `programs selfcheck` runs them where
//! recording or replay is on, for which reenact implements some operations differently.

use reenact_testing::{
    behaviours,
    behaviours::{Behaviours, message_of, panic_of},
};

use super::subject;

mod atomic;
mod barrier;
mod condvar;
mod lazy_lock;
mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;
mod scoped;
mod thread;

/// All of them.
#[cfg_attr(
    test,
    expect(dead_code, reason = "the test harness finds them by itself")
)]
pub(super) const ALL: &[(&str, Behaviours)] = &[
    ("atomic", atomic::ALL),
    ("barrier", barrier::ALL),
    ("condvar", condvar::ALL),
    ("lazy_lock", lazy_lock::ALL),
    ("mpsc", mpsc::ALL),
    ("mutex", mutex::ALL),
    ("once", once::ALL),
    ("once_lock", once_lock::ALL),
    ("rwlock", rwlock::ALL),
    ("scoped", scoped::ALL),
    ("thread", thread::ALL),
];

/// Counts how often it is dropped.
struct Counted<'a>(&'a std::sync::atomic::AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}
