//! Threads of a program as a model uses them: they run the code of an activity, and models keep data with them.
//!
//! An activity that is started has an operating system thread, or whatever its controller runs it on.

use std::{
    cell::UnsafeCell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{Question, activity::with_controlled, explore, external::untracked, mode};

/// A handle to a started thread.
pub struct Running<T>(ThreadHandle<T>);

/// What a thread runs on.
enum ThreadHandle<T> {
    System(std::thread::JoinHandle<T>),
    /// A fiber, with the number of its activity.
    Fiber(u32, Arc<OneShot<std::thread::Result<T>>>),
}

/// Returns whether an activity that is started now gets an operating system thread of its own. If not, a model keeps
/// with the activity ([`kept`]) what it would otherwise keep in a thread-local.
#[inline]
pub fn has_own() -> bool {
    !explore::is_here() || explore::is_process()
}

/// Returns whether other activities may run on the calling thread before an operation of this one has ended. They would
/// see what the operation keeps in a thread-local meanwhile.
#[inline]
pub fn is_shared() -> bool {
    explore::is_here()
}

/// Returns what a model keeps with the activity of this number. None where the activity [has its own](has_own) thread.
pub fn kept<T: Clone + 'static>(number: u32, first: impl FnOnce() -> T) -> Option<T> {
    explore::here()?.kept(number, first)
}

/// Returns the calling activity's number, and its name in the program. None where it [has its own](has_own) thread,
/// which knows both.
pub fn current() -> Option<(u32, Option<String>)> {
    explore::here()?.current_on_fiber()
}

/// Sleeps without taking any time, where a controller decides that. Returns false elsewhere.
pub fn sleep(time: Duration) -> bool {
    mode::is_controlled()
        && with_controlled(|me| me.controller.outside(&me.activity, Question::Sleep(time)))
            .flatten()
            .is_some()
}

/// Notes that the activity of this number has panicked, and whether the panic has been observed.
pub fn note_panic(number: u32, is_observed: bool) {
    if let Some(execution) = explore::here() {
        execution.is_missed(number, !is_observed);
    }
}

/// Notes that the calling activity's panic is observed.
pub fn panic_is_observed() {
    if let Some(execution) = explore::here() {
        execution.forget_panic();
    }
}

/// Returns whether the calling activity unwinds its stack because its execution is over. A panic during that is not the
/// program's own.
pub fn is_leaving() -> bool {
    explore::here().is_some_and(|execution| execution.is_ending())
}

/// A cell that one thread fills and another empties.
struct OneShot<T> {
    /// Belongs to the thread that fills it until it is full, and then to the one that empties it.
    content: UnsafeCell<Option<T>>,
    is_full: AtomicBool,
}

impl<T> OneShot<T> {
    fn new() -> OneShot<T> {
        OneShot {
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
    /// Is called at most once.
    unsafe fn fill(&self, content: T) {
        // SAFETY: `empty` does not access it before it is full.
        unsafe { *self.content.get() = Some(content) };
        self.is_full.store(true, Ordering::Release);
    }

    /// # Safety
    ///
    /// Is not called by two threads at the same time.
    unsafe fn empty(&self) -> Option<T> {
        // SAFETY: It is full, so `fill` has ended and does not access it any more.
        self.is_full()
            .then(|| unsafe { (*self.content.get()).take() })
            .flatten()
    }
}

// SAFETY: The result of a thread is `Send`, or the thread could not have been started; and as with std's handle, only
// the owner of the handle can access it.
unsafe impl<T> Send for Running<T> {}
// SAFETY: A shared handle gives no access to the result; `join` needs the handle itself.
unsafe impl<T> Sync for Running<T> {}

impl<T: Send> Running<T> {
    /// Starts a thread that runs `body`. `number` is the number of its activity; `builder` configures the operating
    /// system thread, if it gets one.
    ///
    /// # Safety
    ///
    /// What `body` borrows must outlive the thread.
    #[inline]
    pub unsafe fn start<'a>(
        builder: impl FnOnce() -> std::thread::Builder,
        number: Option<u32>,
        body: impl FnOnce() -> T + Send + 'a,
    ) -> io::Result<Running<T>>
    where
        T: 'a,
    {
        Ok(Running(match number.filter(|_| !has_own()) {
            // SAFETY: The caller guarantees that what `body` borrows outlives the thread.
            Some(number) => unsafe { ThreadHandle::start_on_fiber(number, body) },
            // SAFETY: The caller guarantees that what `body` borrows outlives the thread.
            None => ThreadHandle::System(unsafe { untracked(|| builder().spawn_unchecked(body)) }?),
        }))
    }
}

impl<T: Send> ThreadHandle<T> {
    /// # Safety
    ///
    /// As for [`Running::start`].
    #[inline]
    unsafe fn start_on_fiber<'a>(
        number: u32,
        body: impl FnOnce() -> T + Send + 'a,
    ) -> ThreadHandle<T>
    where
        T: 'a,
    {
        let result = Arc::new(OneShot::new());
        let its_result = Arc::clone(&result);
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(body));
            if outcome.is_err() {
                note_panic(number, false);
            }
            // SAFETY: The only call.
            unsafe { its_result.fill(outcome) };
        };
        if let Some(execution) = explore::here() {
            // SAFETY: The caller guarantees that what `body` borrows outlives the thread.
            unsafe { execution.start(number, body) };
        }
        ThreadHandle::Fiber(number, result)
    }
}

impl<T> Running<T> {
    /// Returns the operating system thread.
    pub fn thread(&self) -> Option<&std::thread::Thread> {
        match &self.0 {
            ThreadHandle::System(handle) => Some(handle.thread()),
            ThreadHandle::Fiber(..) => None,
        }
    }

    /// Returns whether its code has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            ThreadHandle::System(handle) => handle.is_finished(),
            ThreadHandle::Fiber(_, result) => result.is_full(),
        }
    }

    /// Returns its result. Waits for an operating system thread to end; a fiber must have ended already.
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            ThreadHandle::System(handle) => handle.join(),
            ThreadHandle::Fiber(number, result) => {
                // SAFETY: There is one handle, and this consumes it.
                let result = unsafe { result.empty() };
                let result = result.expect("a thread that has ended leaves its result");
                if result.is_err() {
                    note_panic(number, true);
                }
                result
            }
        }
    }
}
