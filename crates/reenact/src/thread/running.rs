//! What a thread runs on: a thread of the system, or, where it is explored, a fiber.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use reenact_engine::explore;

/// A thread that was started.
pub(super) enum Running<T> {
    System(std::thread::JoinHandle<T>),
    Fiber(u32, Arc<Mutex<Option<super::Result<T>>>>),
}

// SAFETY: What a thread returns may go from one thread to another, or it could not have been started; and as with std's
// handle, nobody gets at it without having the handle for itself.
unsafe impl<T> Send for Running<T> {}
// SAFETY: As above.
unsafe impl<T> Sync for Running<T> {}

impl<T: Send> Running<T> {
    /// Starts a thread with this to do. `number` is that of its activity.
    ///
    /// # Safety
    ///
    /// What it borrows is there until it has ended.
    pub(super) unsafe fn start<'a>(
        builder: std::thread::Builder,
        number: Option<u32>,
        body: impl FnOnce() -> T + Send + 'a,
    ) -> io::Result<Running<T>>
    where
        T: 'a,
    {
        let is_fiber = explore::is_explored() && !explore::is_whole();
        let Some(number) = number.filter(|_| is_fiber) else {
            // SAFETY: The caller's.
            return unsafe { builder.spawn_unchecked(body) }.map(Running::System);
        };
        let result = Arc::new(Mutex::new(None));
        let its_result = Arc::clone(&result);
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(body));
            explore::is_missed(number, outcome.is_err());
            *its_result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        };
        // SAFETY: The caller's.
        unsafe { explore::start(number, Box::new(body)) };
        Ok(Running::Fiber(number, result))
    }
}

impl<T> Running<T> {
    /// The thread of the system.
    pub(super) fn thread(&self) -> Option<&std::thread::Thread> {
        match self {
            Running::System(handle) => Some(handle.thread()),
            Running::Fiber(..) => None,
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        match self {
            Running::System(handle) => handle.is_finished(),
            Running::Fiber(_, result) => {
                let result = result.lock().unwrap_or_else(PoisonError::into_inner);
                result.is_some()
            }
        }
    }

    /// What became of it. It has ended, where that is not a matter of waiting for a thread of the system.
    pub(super) fn join(self) -> super::Result<T> {
        match self {
            Running::System(handle) => handle.join(),
            Running::Fiber(number, result) => {
                let result = result.lock().unwrap_or_else(PoisonError::into_inner).take();
                explore::is_missed(number, false);
                result.expect("a thread that has ended leaves its result")
            }
        }
    }
}
