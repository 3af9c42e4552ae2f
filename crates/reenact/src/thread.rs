//! `std::thread`, recorded.
//!
//! # Nondeterminism
//!
//! - **What can go more than one way:** whether a thread has finished when asked; which `unpark` ends a `park`; how
//!   many cores there are. Spawning and joining are deterministic: a thread's n-th child is always the same, and a join
//!   ends when the thread does.
//! - **What is recorded:** the answer to `is_finished` if it is yes; parking, as the lock and condition variable it is
//!   made of; the number of cores.
//! - **What replay waits for:** the end of the thread, where the answer was yes or the thread is joined. It does not
//!   sleep, and it does not yield.
//! - **What exploration branches on:** both answers; which thread parks or unparks first, and whether the time limit of
//!   a timed park expires. Sleeping is not a step, and advances only the clock of the sleeping thread; yielding is not
//!   a step either.
//! - **What is dependent:** parking and unparking the same thread. Asking whether a thread has finished is dependent on
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

/// Spawns a thread.
///
/// # Panics
///
/// Panics if the system cannot start one; use [`Builder::spawn`] to handle the error.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("failed to spawn thread")
}

/// Configures a new thread: [`std::thread::Builder`].
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Returns the default configuration.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Names the thread.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the size of the thread's stack in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Spawns the thread.
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
        // SAFETY: The body is `'static`, so it borrows nothing.
        let running = unsafe { Running::start(|| self.raw(), number, body) }?;
        Ok(JoinHandle {
            thread: Thread::new(running.thread().cloned(), self.name, id, parking),
            running,
            lineage,
        })
    }

    /// Spawns a thread that may borrow what outlives the scope.
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

    /// Returns the same configuration for std.
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

/// A handle to join a thread.
pub struct JoinHandle<T> {
    running: Running<T>,
    thread: Thread,
    lineage: Lineage,
}

impl<T> JoinHandle<T> {
    /// Returns the thread.
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

/// Asks whether a thread has finished. If the recording saw it finished, a replay waits for its end first.
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

/// Waits until another thread unparks this one.
#[track_caller]
pub fn park() {
    if is_active() {
        current().parking().park(None);
    } else {
        std::thread::park();
    }
}

/// Waits until another thread unparks this one, for `dur` at most.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    if is_active() {
        current().parking().park(Some(dur));
    } else {
        std::thread::park_timeout(dur);
    }
}

/// Sleeps for `dur`. A replay does not sleep, because the trace determines the order.
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

/// Waits until another thread unparks this one, for this many milliseconds at most.
#[deprecated(note = "replaced by `thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

/// Yields to other threads.
pub fn yield_now() {
    if !give_way() {
        std::thread::yield_now();
    }
}

/// Returns how many threads can run in parallel; in a replay, the recorded number.
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
            Err(failure.unwrap_or_else(|| io::Error::other("the recorded program got an error")))
        }
    }
}
