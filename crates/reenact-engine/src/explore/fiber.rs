//! Fibers: the stacks on which activities run while they are explored.
//!
//! All activities of an execution take turns on one thread, so that going from one to another costs a few
//! instructions and nothing has to be locked. A fiber that has done its job is used for the next one: an execution makes no
//! system call and no stack of its own once there have been others.

use std::{
    cell::{Cell, UnsafeCell},
    io,
    mem::MaybeUninit,
    rc::Rc,
};

use corosensei::{Coroutine, CoroutineResult, Yielder, trap::CoroutineTrapHandler};

use super::overflow;
use crate::pool::stack::Stack;

/// Where a fiber has what it has to do, unless that is larger.
#[repr(C, align(16))]
struct Room([MaybeUninit<u8>; 256]);

/// What is in the room of a fiber: how to do it, and how to drop it.
struct Job {
    run: unsafe fn(*mut Room),
    drop: unsafe fn(*mut Room),
}

impl Job {
    /// Puts this into the room.
    ///
    /// # Safety
    ///
    /// It fits in, and there is nothing in it that has to be dropped.
    unsafe fn put<F: FnOnce()>(job: F, room: *mut Room) -> Job {
        unsafe fn run<F: FnOnce()>(room: *mut Room) {
            // SAFETY: It was put there, and is there no more after this.
            let job = unsafe { room.cast::<F>().read() };
            job();
        }
        unsafe fn drop<F>(room: *mut Room) {
            // SAFETY: As above.
            unsafe { room.cast::<F>().drop_in_place() };
        }
        // SAFETY: The caller's.
        unsafe { room.cast::<F>().write(job) };
        Job {
            run: run::<F>,
            drop: drop::<F>,
        }
    }
}

/// Why a fiber gives the thread back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// It waits to be resumed.
    Waits,
    /// Its job is done.
    Done,
    /// It has used up its stack, and cannot go on.
    Overflowed,
}

/// What a fiber and who resumes it share.
struct Shared {
    /// What it has to do; what that needs is in the room.
    job: Cell<Option<Job>>,
    room: UnsafeCell<Room>,
    yielder: Cell<Option<*const Yielder<(), Pause>>>,
}

impl Shared {
    /// It has this to do.
    ///
    /// # Safety
    ///
    /// What it borrows is there until it has been done.
    unsafe fn give<F: FnOnce()>(&self, job: F) {
        self.take_back();
        let fits = size_of::<F>() <= size_of::<Room>() && align_of::<F>() <= align_of::<Room>();
        // SAFETY: There is nothing in the room, and a pointer fits in.
        let job = unsafe {
            match fits {
                true => Job::put(job, self.room.get()),
                false => Job::put(Box::new(job), self.room.get()),
            }
        };
        self.job.set(Some(job));
    }

    /// What it had to do and has not begun is dropped.
    fn take_back(&self) {
        if let Some(job) = self.job.take() {
            // SAFETY: It is in the room.
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
    /// How what runs on it can be ended.
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
                    // SAFETY: It is in the room.
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

    /// Goes on with its job.
    ///
    /// # Safety
    ///
    /// It is there, and does not run. Nobody has a reference to all of it: what runs on it uses the rest.
    #[inline]
    pub(super) unsafe fn resume(this: *mut Fiber) -> Pause {
        let before = overflow::watch(this);
        // SAFETY: The caller's.
        let result = unsafe { (*this).coroutine.resume(()) };
        overflow::watch(before);
        match result {
            CoroutineResult::Yield(pause) | CoroutineResult::Return(pause) => pause,
        }
    }

    /// Gives the thread back until it is resumed.
    ///
    /// # Safety
    ///
    /// The calling code runs on it.
    #[inline]
    pub(super) unsafe fn wait(this: *const Fiber) {
        // SAFETY: The caller's: the fiber is there, and has set what it waits with when it began.
        unsafe {
            let shared = &(*this).shared;
            if let Some(yielder) = shared.yielder.get() {
                (*yielder).suspend(Pause::Waits);
            }
        }
    }
}

/// Fibers that have nothing to do.
#[derive(Default)]
pub(super) struct Fibers {
    /// In boxes, because they stay where they are while they run.
    #[expect(clippy::vec_box)]
    idle: Vec<Box<Fiber>>,
}

impl Fibers {
    /// One that will do this when it is resumed.
    ///
    /// # Safety
    ///
    /// What it borrows is there until it has been done.
    #[inline]
    pub(super) unsafe fn with(&mut self, job: impl FnOnce()) -> io::Result<Box<Fiber>> {
        let fiber = match self.idle.pop() {
            Some(fiber) => fiber,
            None => Box::new(Fiber::new()?),
        };
        // SAFETY: The caller's.
        unsafe { fiber.shared.give(job) };
        Ok(fiber)
    }

    /// Its job is done.
    pub(super) fn put_back(&mut self, fiber: Box<Fiber>) {
        self.idle.push(fiber);
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        if self.coroutine.started() && !self.coroutine.done() {
            // Whoever is idle has nothing on its stack; and what waits for ever cannot be made to leave it.
            // SAFETY: What is on it is never used again.
            unsafe { self.coroutine.force_reset() };
        }
    }
}
