//! Threads that wait for a promise.

use std::time::Duration;

use reenact_engine::{Access, choose_at, pool::is_in_turn, raw::now};

use super::{super::ops, Broken, Promise};

impl<R: Send + 'static> Promise<R> {
    /// Blocks the calling thread until the promise is settled.
    ///
    /// # Panics
    ///
    /// Panics in a turn of an actor, which would keep others from running; use [`Promise::when`] there.
    #[track_caller]
    pub fn wait(self) -> Result<R, Broken> {
        self.not_in_a_turn();
        self.settled();
        self.shared.state().value()
    }

    /// Blocks the calling thread until the promise is settled, for `timeout` at most. Returns the promise if the time
    /// expires.
    ///
    /// # Panics
    ///
    /// Panics as [`Promise::wait`] does.
    #[track_caller]
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<R, Broken>, Promise<R>> {
        self.not_in_a_turn();
        // A deadline that the clock cannot represent is no deadline.
        let Some(deadline) = now().checked_add(timeout) else {
            return Ok(self.wait());
        };
        let name = &self.shared.name;
        let in_time = choose_at(ops::WAIT_FOR_PROMISE, name, Access::Read, 1, || {
            self.shared.settled.wait_until(deadline).into()
        });
        if in_time == 0 {
            return Err(self);
        }
        self.settled();
        let outcome = self.shared.state().value();
        Ok(outcome)
    }

    fn settled(&self) {
        let made_at = self.shared.made_at;
        self.shared.settled.wait(&|| {
            let what = std::any::type_name::<R>();
            format!("a promise of {what} made at {made_at}")
        });
    }

    #[track_caller]
    fn not_in_a_turn(&self) {
        assert!(
            !is_in_turn(),
            "a turn cannot wait for a promise: register a continuation with `when` instead"
        );
    }
}
