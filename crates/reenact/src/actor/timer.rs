//! Timers: promises that are resolved after a delay.
//!
//! When a timer fires depends on the clock, which is outside. Only the position of its continuation in the order of its
//! actor's turns is recorded.

use std::time::Duration;

use reenact_engine::{fire_after, pool::Pool};

use super::Promise;

/// Returns a promise that is resolved after `delay`.
#[track_caller]
pub(super) fn after(pool: Pool, delay: Duration) -> Promise<()> {
    let (promise, debt) = Promise::owed();
    // The pool is not idle until the timer has fired.
    let expected = pool.expect_work();
    fire_after(delay, move || {
        debt.settle(Ok(()));
        drop(expected);
    });
    promise
}
