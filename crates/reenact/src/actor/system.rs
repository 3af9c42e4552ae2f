//! Systems: actors and the workers that run them.

use std::num::NonZeroUsize;

use reenact_engine::{outside, pool::Pool};

use super::{FarRef, OnPanic, cell::ActorCell, ops};

/// Actors and the workers that run them.
///
/// Most programs need no system of their own: [`spawn`] uses a shared one. Create one to choose the number of workers,
/// or to wait until no work is left.
///
/// ```
/// use reenact::actor::{System, Target};
/// use reenact::sync::{Arc, Mutex};
///
/// let system = System::new(2);
/// let seen = Arc::new(Mutex::new(0));
/// for _ in 0..100 {
///     let actor = system.spawn(Arc::clone(&seen));
///     actor.send(|seen, _ctx| *seen.lock().unwrap() += 1);
/// }
/// system.wait_until_idle();
/// assert_eq!(*seen.lock().unwrap(), 100);
/// system.shut_down();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct System {
    pool: Pool,
}

impl System {
    /// Creates a system with this many workers.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is 0, or if a worker's thread cannot be started.
    pub fn new(workers: usize) -> System {
        let workers = NonZeroUsize::new(workers).expect("a system has at least one worker");
        System {
            pool: Pool::new(workers),
        }
    }

    /// Returns the system of the actor whose turn is running; elsewhere the shared system, with a worker for each core
    /// (or as many as the environment variable `REENACT_WORKERS` says).
    pub fn current() -> System {
        System {
            pool: Pool::current().unwrap_or_else(Pool::shared),
        }
    }

    pub(super) fn of(pool: Pool) -> System {
        System { pool }
    }

    /// Returns the number of workers.
    #[track_caller]
    pub fn workers(&self) -> usize {
        // The replaying machine may have more or fewer cores.
        outside(ops::WORKERS, || self.pool.size() as u64) as usize
    }

    /// Spawns an actor with this state.
    #[track_caller]
    pub fn spawn<A: Send + 'static>(&self, state: A) -> FarRef<A> {
        self.build().spawn(state)
    }

    /// Returns a builder for an actor with non-default options.
    pub fn build(&self) -> Builder {
        Builder {
            pool: self.pool,
            on_panic: OnPanic::default(),
            mailbox: None,
        }
    }

    /// Blocks the calling thread until no work is left: no actor has a message to handle, and no timer runs.
    ///
    /// Messages that other threads send afterwards do not count, nor do promises that they have yet to resolve.
    ///
    /// # Panics
    ///
    /// Panics in a turn of an actor of this system, which is work itself.
    pub fn wait_until_idle(&self) {
        self.pool.wait_until_quiet();
    }

    /// Waits until no work is left, then ends the workers. Actors that still have references count as stopped.
    ///
    /// # Panics
    ///
    /// Panics as [`System::wait_until_idle`] does.
    pub fn shut_down(self) {
        self.wait_until_idle();
        self.pool.close();
    }
}

/// Spawns an actor with this state in the [current](System::current) system.
#[track_caller]
pub fn spawn<A: Send + 'static>(state: A) -> FarRef<A> {
    System::current().spawn(state)
}

/// Configures an actor. Returned by [`System::build`].
///
/// ```
/// use reenact::actor::{OnPanic, System, Target};
///
/// let careful = System::current()
///     .build()
///     .on_panic(OnPanic::Keep)
///     .mailbox(100)
///     .spawn(0u32);
/// assert!(careful.ask(|_count, _ctx| panic!("oh")).wait().is_err());
/// let count = careful.ask(|count, _ctx| {
///     *count += 1;
///     *count
/// });
/// assert_eq!(count.wait().unwrap(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is made before `spawn`"]
pub struct Builder {
    pool: Pool,
    on_panic: OnPanic,
    mailbox: Option<u32>,
}

impl Builder {
    /// Sets what happens to the actor when a turn panics.
    pub fn on_panic(self, on_panic: OnPanic) -> Builder {
        Builder { on_panic, ..self }
    }

    /// Limits the number of messages that may wait for the actor. Further messages are refused: [`FarRef::try_send`]
    /// returns an error, a promise is broken, and a message without an answer is lost. Continuations are never refused.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is 0.
    pub fn mailbox(self, capacity: u32) -> Builder {
        assert!(capacity > 0, "a mailbox has room for at least one message");
        Builder {
            mailbox: Some(capacity),
            ..self
        }
    }

    /// Spawns the actor.
    #[inline]
    #[track_caller]
    pub fn spawn<A: Send + 'static>(self, state: A) -> FarRef<A> {
        FarRef::from_counted(ActorCell::allocate(
            self.pool,
            self.on_panic,
            self.mailbox,
            state,
        ))
    }
}
