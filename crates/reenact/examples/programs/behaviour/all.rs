//! How `thread` and `sync` behave, whoever they are of.
//!
//! Each function here holds one behaviour. They are written against `subject`, which is std or reenact. The tests run
//! them with both, which says that they are right and that reenact does the same; `programs selfcheck` runs them where
//! recording or replay is on, for which reenact implements some operations differently.

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

/// Names for functions.
macro_rules! by_name {
    ($($function:ident),* $(,)?) => { &[$((stringify!($function), $function as fn())),*] };
}
use by_name;

type Behaviours = &'static [(&'static str, fn())];

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

/// What a panic said.
pub(super) fn message_of(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic
            .downcast_ref::<&str>()
            .expect("a panic with a message")
            .to_string(),
    }
}

/// What `body` says when it panics, which it does.
fn panic_of<T>(body: impl FnOnce() -> T) -> String {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(_) => panic!("it did not panic"),
        Err(panic) => message_of(panic),
    }
}

/// Counts how often it is dropped.
struct Counted<'a>(&'a std::sync::atomic::AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}
