//! Systems: actors and the workers that run them.

use std::num::NonZeroUsize;

use reenact_engine::{outside, pool::Pool};

use super::{FarRef, OnPanic, cell::ActorCell, ops};

/// Actors and the workers that run them.
///
/// Most programs need no system of their own: [`spawn`] uses one that all share. One of its own is for who wants to
/// say how many workers there are, or to wait until there is no work left.
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
    /// A system with so many workers.
    ///
    /// # Panics
    ///
    /// If there are to be none, or if a worker's thread cannot be started.
    pub fn new(workers: usize) -> System {
        let workers = NonZeroUsize::new(workers).expect("a system has at least one worker");
        System {
            pool: Pool::new(workers),
        }
    }

    /// The system of the actor whose turn this is; elsewhere the one that all share, with a worker for each core
    /// (or as many as the environment variable `REENACT_WORKERS` says).
    pub fn current() -> System {
        System {
            pool: Pool::current().unwrap_or_else(Pool::shared),
        }
    }

    pub(super) fn of(pool: Pool) -> System {
        System { pool }
    }

    /// How many workers it has.
    #[track_caller]
    pub fn workers(&self) -> usize {
        // The machine that replays may have more cores, or fewer.
        outside(ops::WORKERS, || self.pool.size() as u64) as usize
    }

    /// Makes an actor with this state.
    #[track_caller]
    pub fn spawn<A: Send + 'static>(&self, state: A) -> FarRef<A> {
        self.build().spawn(state)
    }

    /// An actor that differs from others in some respect.
    pub fn build(&self) -> Builder {
        Builder {
            pool: self.pool,
            on_panic: OnPanic::default(),
            mailbox: None,
        }
    }

    /// Blocks the calling thread until there is no work left: no actor has a message to handle, and no timer runs.
    ///
    /// What other threads send afterwards is another matter, and so are promises that they will resolve.
    ///
    /// # Panics
    ///
    /// In a turn of an actor of this system, which is work itself.
    pub fn wait_until_idle(&self) {
        self.pool.wait_until_quiet();
    }

    /// Waits until there is no work left, then ends the workers. Actors that are still referred to have stopped.
    ///
    /// # Panics
    ///
    /// As [`System::wait_until_idle`].
    pub fn shut_down(self) {
        self.wait_until_idle();
        self.pool.close();
    }
}

/// Makes an actor with this state, in the [current](System::current) system.
#[track_caller]
pub fn spawn<A: Send + 'static>(state: A) -> FarRef<A> {
    System::current().spawn(state)
}

/// An actor to be made, that differs from others in some respect. From [`System::build`].
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
    /// What becomes of the actor when a turn panics.
    pub fn on_panic(self, on_panic: OnPanic) -> Builder {
        Builder { on_panic, ..self }
    }

    /// How many messages may wait for the actor. One more is refused: [`FarRef::try_send`] says so, a promise is broken,
    /// and what was sent without wanting an answer is lost. Continuations are never refused.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn mailbox(self, capacity: u32) -> Builder {
        assert!(capacity > 0, "a mailbox has room for at least one message");
        Builder {
            mailbox: Some(capacity),
            ..self
        }
    }

    /// Makes the actor.
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
