//! Fibers: the stacks on which activities run while they are explored.
//!
//! All activities of an execution take turns on one thread, so that a switch costs a few instructions and needs no
//! locks. A fiber that has done its job is reused for the next one: after the first executions, an execution makes no
//! system calls and allocates no stacks.

use std::{
    cell::{Cell, UnsafeCell},
    io,
    mem::MaybeUninit,
    rc::Rc,
};

use corosensei::{Coroutine, CoroutineResult, Yielder, trap::CoroutineTrapHandler};

use super::overflow;
use crate::pool::stack::Stack;

/// The storage of a fiber's job, unless the job is larger.
#[repr(C, align(16))]
struct Room([MaybeUninit<u8>; 256]);

/// The job in a fiber's storage: how to run it, and how to drop it.
struct Job {
    run: unsafe fn(*mut Room),
    drop: unsafe fn(*mut Room),
}

impl Job {
    /// Puts a job into the storage.
    ///
    /// # Safety
    ///
    /// The job fits into the storage, which contains nothing that has to be dropped.
    unsafe fn put<F: FnOnce()>(job: F, room: *mut Room) -> Job {
        unsafe fn run<F: FnOnce()>(room: *mut Room) {
            // SAFETY: `put` wrote an `F` there, and a job is run at most once, so it is moved out only once.
            let job = unsafe { room.cast::<F>().read() };
            job();
        }
        unsafe fn drop<F>(room: *mut Room) {
            // SAFETY: `put` wrote an `F` there, and a job that was not run is dropped only once.
            unsafe { room.cast::<F>().drop_in_place() };
        }
        // SAFETY: The caller guarantees that the job fits and that the storage contains nothing to drop.
        unsafe { room.cast::<F>().write(job) };
        Job {
            run: run::<F>,
            drop: drop::<F>,
        }
    }
}

/// Why a fiber returns control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// It waits to be resumed.
    Waits,
    /// Its job is done.
    Done,
    /// Its stack has overflowed, and it cannot continue.
    Overflowed,
}

/// What a fiber and the code that resumes it share.
struct Shared {
    /// The job; its data are in the storage.
    job: Cell<Option<Job>>,
    room: UnsafeCell<Room>,
    yielder: Cell<Option<*const Yielder<(), Pause>>>,
}

impl Shared {
    /// Sets the job.
    ///
    /// # Safety
    ///
    /// There is no other job, and what the job borrows must stay alive until it has run.
    #[inline(always)]
    unsafe fn give<F: FnOnce()>(&self, job: F) {
        let fits = size_of::<F>() <= size_of::<Room>() && align_of::<F>() <= align_of::<Room>();
        // SAFETY: The caller guarantees that the storage is empty. The job fits by the check above; otherwise it is
        // boxed, and a pointer fits.
        let job = unsafe {
            match fits {
                true => Job::put(job, self.room.get()),
                false => Job::put(Box::new(job), self.room.get()),
            }
        };
        self.job.set(Some(job));
    }

    /// Drops a job that has not begun.
    fn take_back(&self) {
        if let Some(job) = self.job.take() {
            // SAFETY: `job` was set, so its data are in the storage; taking it makes sure that they are dropped only
            // once.
            unsafe { (job.drop)(self.room.get()) };
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// A stack that runs one job after another.
pub(super) struct Fiber {
    coroutine: Coroutine<(), Pause, Pause, Stack>,
    shared: Rc<Shared>,
    /// Ends the code that runs on it after an overflow.
    pub(super) trap: CoroutineTrapHandler<Pause>,
}

impl Fiber {
    fn new() -> io::Result<Fiber> {
        overflow::catch();
        let shared = Rc::new(Shared {
            job: Cell::new(None),
            room: UnsafeCell::new(Room([MaybeUninit::uninit(); _])),
            yielder: Cell::new(None),
        });
        let inner = Rc::clone(&shared);
        let coroutine = Coroutine::with_stack(Stack::new()?, move |yielder, ()| {
            inner.yielder.set(Some(yielder));
            loop {
                if let Some(job) = inner.job.take() {
                    // SAFETY: `job` was set, so its data are in the storage; taking it makes sure that it runs only
                    // once.
                    unsafe { (job.run)(inner.room.get()) };
                }
                yielder.suspend(Pause::Done);
            }
        });
        Ok(Fiber {
            trap: coroutine.trap_handler(),
            coroutine,
            shared,
        })
    }

    /// Lets it run `job` when it is resumed.
    ///
    /// # Safety
    ///
    /// It has no job, and what the job borrows must stay alive until it has run.
    #[inline(always)]
    pub(super) unsafe fn give(&self, job: impl FnOnce()) {
        // SAFETY: As the caller guarantees.
        unsafe { self.shared.give(job) };
    }

    /// Continues its job.
    ///
    /// # Safety
    ///
    /// The fiber is alive and does not run. There is no reference to the whole of it: the code that runs on it uses the
    /// rest.
    #[inline]
    pub(super) unsafe fn resume(this: *mut Fiber) -> Pause {
        let before = overflow::watch(this);
        // SAFETY: The caller guarantees that the fiber is alive, does not run, and is not borrowed as a whole.
        let result = unsafe { (*this).coroutine.resume(()) };
        overflow::watch(before);
        match result {
            CoroutineResult::Yield(pause) | CoroutineResult::Return(pause) => pause,
        }
    }

    /// Suspends the fiber until it is resumed.
    ///
    /// # Safety
    ///
    /// The calling code runs on the fiber.
    #[inline]
    pub(super) unsafe fn wait(this: *const Fiber) {
        // SAFETY: The caller runs on the fiber, so the fiber is alive, and its yielder was set when it began.
        unsafe {
            let shared = &(*this).shared;
            if let Some(yielder) = shared.yielder.get() {
                (*yielder).suspend(Pause::Waits);
            }
        }
    }
}

/// Idle fibers.
#[derive(Default)]
pub(super) struct Fibers {
    /// Boxed, because a fiber must not move while it runs.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Fiber>>,
}

impl Fibers {
    /// Returns a fiber without a job.
    #[inline]
    pub(super) fn take(&mut self) -> io::Result<Box<Fiber>> {
        match self.idle.pop() {
            Some(fiber) => Ok(fiber),
            None => Ok(Box::new(Fiber::new()?)),
        }
    }

    /// Takes back a fiber whose job is done.
    pub(super) fn put_back(&mut self, fiber: Box<Fiber>) {
        self.idle.push(fiber);
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.coroutine.started() && !self.coroutine.done() {
            // An idle fiber has nothing on its stack, and code that waits for good cannot be unwound.
            // SAFETY: What is on the stack is never used again.
            unsafe { self.coroutine.force_reset() };
        }
    }
}
