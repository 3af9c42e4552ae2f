//! `std::thread`, recorded.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** whether a thread has finished when asked; which `unpark` ends a `park`; how many
//!   cores there are. Spawning and joining are not: a thread's n-th child is always the same, and a join ends when the
//!   thread does.
//! - **What is recorded:** the answer to `is_finished` if it is yes; parking as the lock and condition it is made of; the
//!   number of cores.
//! - **What replay waits for:** the end of the thread, where the answer was yes or the thread is joined. It does not
//!   sleep, and it does not yield.
//! - **What exploration branches on:** both answers; which thread parks or unparks first, and whether the time is up of who parks
//!   for so long. Sleeping is no step, and takes no time but for the clock of who sleeps; giving way is none, either.
//! - **What is dependent:** operations on the same thread's parking place. To ask whether a thread has finished is dependent on
//!   everything.

mod handle;
mod scoped;

use std::{io, time::Duration};

use reenact_engine::{
    Birth, Lineage, is_active, outside,
    pool::{can_be_put_aside, give_way, wait_aside},
    raw::{Parker, now},
    thread::{Running, sleep as sleep_without_time},
};

pub use std::thread::{AccessError, LocalKey, Result, panicking};

pub use self::{
    handle::{Thread, ThreadId, current},
    scoped::{Scope, ScopedJoinHandle, scope},
};
use crate::ops;

/// Starts a thread.
///
/// # Panics
///
/// If the system cannot start one; use [`Builder::spawn`] to be told instead.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// What a thread is to be like: [`std::thread::Builder`].
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Nothing special.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Names the thread.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the size of its stack in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let birth = Birth::announce(self.name.as_deref());
        let lineage = birth.lineage();
        let number = birth.number();
        let newcomer = handle::Newcomer::new(&birth);
        let parking = newcomer.parking();
        let id = newcomer.id();
        let body = move || {
            let _life = birth.begin();
            newcomer.arrive();
            f()
        };
        // SAFETY: It borrows nothing.
        let running = unsafe { Running::start(|| self.raw(), number, body) }?;
        Ok(JoinHandle {
            thread: Thread::new(running.thread().cloned(), self.name, id, parking),
            running,
            lineage,
        })
    }

    /// Starts a thread that may borrow what outlives the scope.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.start(self, f)
    }

    /// The same for the system.
    fn raw(&self) -> std::thread::Builder {
        let mut raw = std::thread::Builder::new();
        if let Some(name) = &self.name {
            raw = raw.name(name.clone());
        }
        if let Some(size) = self.stack_size {
            raw = raw.stack_size(size);
        }
        raw
    }
}

/// By which a thread is joined.
pub struct JoinHandle<T> {
    running: Running<T>,
    thread: Thread,
    lineage: Lineage,
}

impl<T> JoinHandle<T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Waits for the thread to end, and returns what it returned or panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.lineage.join();
        wait_aside(|| self.running.is_finished());
        self.running.join()
    }

    /// Whether the thread's function has returned.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        finished(&self.lineage, || self.running.is_finished())
    }
}

/// Asks whether a thread has finished. Where the recorded one had, it has in the replay once this returns.
#[track_caller]
fn finished(lineage: &Lineage, ask: impl FnOnce() -> bool) -> bool {
    let finished = lineage.has_ended(ops::IS_FINISHED, ask);
    if finished {
        lineage.wait_for_end();
    }
    finished
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Waits until someone unparks this thread.
#[track_caller]
pub fn park() {
    if is_active() {
        current().parking().park(None);
    } else {
        std::thread::park();
    }
}

/// Waits until someone unparks this thread, for `dur` at most.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    if is_active() {
        current().parking().park(Some(dur));
    } else {
        std::thread::park_timeout(dur);
    }
}

/// Sleeps; not in a replay, where order comes from the trace.
pub fn sleep(dur: Duration) {
    if sleep_without_time(dur) {
        return;
    }
    match now().checked_add(dur) {
        Some(deadline) if can_be_put_aside() => {
            Parker::new().park_until(Some(deadline));
        }
        _ => std::thread::sleep(dur),
    }
}

/// Sleeps for this many milliseconds.
#[deprecated(note = "replaced by `thread::sleep`")]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}

/// Waits until someone unparks this thread, for this many milliseconds at most.
#[deprecated(note = "replaced by `thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

/// Lets others run.
pub fn yield_now() {
    if !give_way() {
        std::thread::yield_now();
    }
}

/// How many threads can run at the same time; in a replay, where the recording was made.
#[track_caller]
pub fn available_parallelism() -> io::Result<std::num::NonZero<usize>> {
    let mut failure = None;
    let number = outside(
        ops::PARALLELISM,
        || match std::thread::available_parallelism() {
            Ok(number) => number.get() as u64,
            Err(error) => {
                failure = Some(error);
                0
            }
        },
    );
    match std::num::NonZero::new(number as usize) {
        Some(number) => Ok(number),
        None => {
            Err(failure.unwrap_or_else(|| io::Error::other("the recorded program was not told")))
        }
    }
}
