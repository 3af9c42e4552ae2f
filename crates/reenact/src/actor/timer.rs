//! Timers: promises that time resolves.
//!
//! A timer is something from outside: when it fires is up to the clock. Nothing of that is recorded but where its
//! continuation came in the order of its actor's turns.

use std::time::Duration;

use reenact_engine::{fire_after, pool::Pool};

use super::Promise;

/// A promise that is resolved after `delay`.
#[track_caller]
pub(super) fn after(pool: Pool, delay: Duration) -> Promise<()> {
    let (promise, debt) = Promise::owed();
    // The pool is not quiet before it has fired.
    let expected = pool.expect_work();
    fire_after(delay, move || {
        debt.settle(Ok(()));
        drop(expected);
    });
    promise
}
