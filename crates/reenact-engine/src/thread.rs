//! Threads of a program, as a model sees them: what runs the code of an activity, and what it keeps with it.
//!
//! An activity that is started has a thread of the system, or whatever its controller runs it on.

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

use crate::{Question, activity::with_controlled, explore, external::apart, mode};

/// A thread that was started.
pub struct Running<T>(Runs<T>);

/// What a thread runs on.
enum Runs<T> {
    System(std::thread::JoinHandle<T>),
    /// A fiber, by the number of its activity.
    Fiber(u32, Arc<Slot<std::thread::Result<T>>>),
}

/// Whether an activity that is started now has a thread of the system for itself. If not, what a model would keep in a
/// thread-local, it has [`kept`] with the activity.
#[inline]
pub fn has_own() -> bool {
    !explore::is_here() || explore::is_whole()
}

/// Whether other activities may run on the calling thread before an operation of this one has ended. What an operation keeps in
/// a thread-local meanwhile would be theirs, too.
#[inline]
pub fn is_shared() -> bool {
    explore::is_here()
}

/// What a model keeps with the activity of this number. None where it [has its own](has_own) thread.
pub fn kept<T: Clone + 'static>(number: u32, first: impl FnOnce() -> T) -> Option<T> {
    explore::here()?.kept(number, first)
}

/// The calling activity's number, and what the program calls it. None where it [has its own](has_own) thread, which knows.
pub fn current() -> Option<(u32, Option<&'static str>)> {
    let world = explore::here().filter(|world| !world.is_on_thread())?;
    let number = world.state().current();
    Some((number, world.name_given(number)))
}

/// Sleeps without taking any time, where that is up to a controller. False elsewhere.
pub fn sleep(time: Duration) -> bool {
    mode::is_controlled()
        && with_controlled(|me| me.controller.outside(&me.activity, Question::Sleep(time)))
            .flatten()
            .is_some()
}

/// The activity of this number has panicked, and nobody has observed that; or somebody has.
pub fn note_panic(number: u32, is_observed: bool) {
    if let Some(world) = explore::here() {
        world.is_missed(number, !is_observed);
    }
}

/// The calling activity has panicked, and somebody is told of it.
pub fn panic_is_observed() {
    if let Some(world) = explore::here() {
        world.forgets_panic();
    }
}

/// Whether the calling activity leaves its stack because its execution is over: what panics then does so for no reason of its
/// own.
pub fn is_leaving() -> bool {
    explore::here().is_some_and(|world| world.is_ending())
}

/// Where one leaves something that another takes.
struct Slot<T> {
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
    /// Starts a thread with this to do. `number` is that of its activity; `builder` says what a thread of the system is to be
    /// like, if it has one.
    ///
    /// # Safety
    ///
    /// What it borrows is there until it has ended.
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
            // SAFETY: The caller's.
            Some(number) => unsafe { Runs::start_on_fiber(number, body) },
            // SAFETY: The caller's.
            None => Runs::System(unsafe { apart(|| builder().spawn_unchecked(body)) }?),
        }))
    }
}

impl<T: Send> Runs<T> {
    /// # Safety
    ///
    /// As for [`Running::start`].
    #[inline]
    unsafe fn start_on_fiber<'a>(number: u32, body: impl FnOnce() -> T + Send + 'a) -> Runs<T>
    where
        T: 'a,
    {
        let result = Arc::new(Slot::new());
        let its_result = Arc::clone(&result);
        let body = move || {
            let outcome = catch_unwind(AssertUnwindSafe(body));
            if outcome.is_err() {
                note_panic(number, false);
            }
            // SAFETY: The one time.
            unsafe { its_result.fill(outcome) };
        };
        if let Some(world) = explore::here() {
            // SAFETY: The caller's.
            unsafe { world.start(number, body) };
        }
        Runs::Fiber(number, result)
    }
}

impl<T> Running<T> {
    /// The thread of the system.
    pub fn thread(&self) -> Option<&std::thread::Thread> {
        match &self.0 {
            Runs::System(handle) => Some(handle.thread()),
            Runs::Fiber(..) => None,
        }
    }

    /// Whether its code has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Runs::System(handle) => handle.is_finished(),
            Runs::Fiber(_, result) => result.is_full(),
        }
    }

    /// What became of it. It has ended, where that is not a matter of waiting for a thread of the system.
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Runs::System(handle) => handle.join(),
            Runs::Fiber(number, result) => {
                // SAFETY: There is one handle, which is gone after that.
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
