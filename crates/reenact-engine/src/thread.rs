//! Threads of a program as a model uses them: they run the code of an activity, and models keep data with them.
//!
//! An activity that is started has an operating system thread, or whatever its controller runs it on.

use std::{
    cell::UnsafeCell,
    io,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use crate::{Question, activity::with_controlled, explore, external::untracked, mode};

/// A handle to a started thread.
pub struct Running<T>(ThreadHandle<T>);

/// What a thread runs on.
enum ThreadHandle<T> {
    System(std::thread::JoinHandle<T>),
    /// A fiber, with the number of its activity.
    Fiber(u32, Emptier<std::thread::Result<T>>),
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

/// A cell that one thread fills and another empties, each at most once. Whoever is last frees it.
///
/// # State
///
/// | state | set by |
/// |---|---|
/// | 0 | |
/// | [`FILLED`] | the [`Filler`] when it is done: the [`Emptier`] owns the cell |
/// | [`ABANDONED`] | the [`Emptier`] when it is dropped before that: the [`Filler`] owns the cell |
///
/// An `Arc` would change a counter four times.
struct OneShot<T> {
    content: UnsafeCell<Option<T>>,
    state: AtomicU8,
}

const FILLED: u8 = 1;
const ABANDONED: u8 = 2;

/// The end of a [`OneShot`] that fills it.
struct Filler<T>(NonNull<OneShot<T>>);

/// The end of a [`OneShot`] that empties it.
struct Emptier<T>(NonNull<OneShot<T>>);

impl<T> OneShot<T> {
    /// Returns the two ends of a new cell.
    fn ends() -> (Filler<T>, Emptier<T>) {
        let cell = Box::new(OneShot {
            content: UnsafeCell::new(None),
            state: AtomicU8::new(0),
        });
        let cell = NonNull::from(Box::leak(cell));
        (Filler(cell), Emptier(cell))
    }

    /// Sets the state for one of the two ends, which is done. Frees the cell if the other was done before.
    ///
    /// # Safety
    ///
    /// The cell is alive, and this end does not use it any more.
    unsafe fn release(cell: NonNull<OneShot<T>>, state: u8) {
        // SAFETY: The caller guarantees that it is alive.
        // AcqRel: the end that frees the cell must see what the other did with it before.
        if unsafe { cell.as_ref() }.state.swap(state, Ordering::AcqRel) != 0 {
            // SAFETY: It was allocated by `ends`, and neither end uses it any more.
            drop(unsafe { Box::from_raw(cell.as_ptr()) });
        }
    }
}

impl<T> Filler<T> {
    fn fill(self, content: T) {
        // SAFETY: This end is alive, so the cell is. The other end does not access the content before this one is gone.
        unsafe { *self.0.as_ref().content.get() = Some(content) };
    }
}

impl<T> Drop for Filler<T> {
    fn drop(&mut self) {
        // SAFETY: This end is alive, so the cell is; and it is not used any more.
        unsafe { OneShot::release(self.0, FILLED) };
    }
}

impl<T> Emptier<T> {
    /// Returns whether the other end is done.
    fn is_full(&self) -> bool {
        // SAFETY: This end is alive, so the cell is.
        // Acquire: pairs with the release of the other end.
        unsafe { self.0.as_ref() }.state.load(Ordering::Acquire) == FILLED
    }

    /// Returns the content, if the other end is done and has filled it.
    fn empty(self) -> Option<T> {
        if !self.is_full() {
            return None;
        }
        // SAFETY: The other end is done, so this one owns the cell, which was allocated by `ends`.
        let cell = unsafe { Box::from_raw(self.0.as_ptr()) };
        std::mem::forget(self);
        cell.content.into_inner()
    }
}

impl<T> Drop for Emptier<T> {
    fn drop(&mut self) {
        // SAFETY: This end is alive, so the cell is; and it is not used any more.
        unsafe { OneShot::release(self.0, ABANDONED) };
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
        // Nothing that may panic drops `body` from here on: so it need not be in memory, see `Execution::start`.
        let body = ManuallyDrop::new(body);
        let (filler, result) = OneShot::ends();
        let body = move || {
            let body = ManuallyDrop::into_inner(body);
            let outcome = catch_unwind(AssertUnwindSafe(body));
            if outcome.is_err() {
                note_panic(number, false);
            }
            filler.fill(outcome);
        };
        let execution =
            explore::here().expect("only an explored activity has no thread of its own");
        // SAFETY: The caller guarantees that what `body` borrows outlives the thread.
        unsafe { execution.start(number, body) };
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
                let result = result.empty();
                let result = result.expect("a thread that has ended leaves its result");
                if result.is_err() {
                    note_panic(number, true);
                }
                result
            }
        }
    }
}
