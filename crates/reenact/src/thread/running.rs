//! What a thread runs on: a thread of the system, or, where it is explored, a fiber.

use std::{
    cell::UnsafeCell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use reenact_engine::explore;

/// A thread that was started.
pub(super) enum Running<T> {
    System(std::thread::JoinHandle<T>),
    Fiber(u32, Arc<Slot<super::Result<T>>>),
}

/// Whether a thread that is started now is a fiber.
#[inline]
pub(super) fn is_on_fibers() -> bool {
    explore::is_explored() && !explore::is_whole()
}

/// Where one leaves something that another takes.
pub(super) struct Slot<T> {
    /// Belongs to who fills it until it is full, and then to who empties it.
    content: UnsafeCell<Option<T>>,
    is_full: AtomicBool,
}

impl<T> Slot<T> {
    fn new() -> Slot<T> {
        Slot {
            content: UnsafeCell::new(None),
            is_full: AtomicBool::new(false),
        }
    }

    fn is_full(&self) -> bool {
        // Acquire: pairs with the Release in `fill`.
        self.is_full.load(Ordering::Acquire)
    }

    /// # Safety
    ///
    /// Once.
    unsafe fn fill(&self, content: T) {
        // SAFETY: Nobody else looks at it before it is full.
        unsafe { *self.content.get() = Some(content) };
        self.is_full.store(true, Ordering::Release);
    }

    /// # Safety
    ///
    /// By one at a time.
    unsafe fn empty(&self) -> Option<T> {
        // SAFETY: Who fills it has done so, and does not look at it any more.
        self.is_full()
            .then(|| unsafe { (*self.content.get()).take() })
            .flatten()
    }
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
        match number.filter(|_| is_on_fibers()) {
            // SAFETY: The caller's.
            Some(number) => Ok(unsafe { Running::start_on_fiber(number, body) }),
            // SAFETY: The caller's.
            None => unsafe { builder.spawn_unchecked(body) }.map(Running::System),
        }
    }

    /// The same where it is explored on fibers.
    ///
    /// # Safety
    ///
    /// The same.
    pub(super) unsafe fn start_on_fiber<'a>(
        number: u32,
        body: impl FnOnce() -> T + Send + 'a,
    ) -> Running<T>
    where
        T: 'a,
    {
        let result = Arc::new(Slot::new());
        let its_result = Arc::clone(&result);
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(body));
            if outcome.is_err() {
                explore::is_missed(number, true);
            }
            // SAFETY: The one time.
            unsafe { its_result.fill(outcome) };
        };
        // SAFETY: The caller's.
        unsafe { explore::start(number, body) };
        Running::Fiber(number, result)
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
            Running::Fiber(_, result) => result.is_full(),
        }
    }

    /// What became of it. It has ended, where that is not a matter of waiting for a thread of the system.
    pub(super) fn join(self) -> super::Result<T> {
        match self {
            Running::System(handle) => handle.join(),
            Running::Fiber(number, result) => {
                // SAFETY: There is one handle, which is gone after that.
                let result = unsafe { result.empty() };
                let result = result.expect("a thread that has ended leaves its result");
                if result.is_err() {
                    explore::is_missed(number, false);
                }
                result
            }
        }
    }
}
