//! Fibers: the stacks on which activities run while they are explored.
//!
//! All activities of an execution take turns on one thread, so that going from one to another costs a few
//! instructions and nothing has to be locked. A fiber that has done its job is used for the next one: an execution makes no
//! system call and no stack of its own once there have been others.

use std::{cell::Cell, io, rc::Rc};

use corosensei::{Coroutine, CoroutineResult, Yielder, trap::CoroutineTrapHandler};

use super::overflow;
use crate::pool::stack::Stack;

/// What a fiber has to do.
pub(super) enum Job {
    Once(Box<dyn FnOnce()>),
    /// What others have to do again.
    Again(Rc<dyn Fn()>),
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
#[derive(Default)]
struct Shared {
    job: Cell<Option<Job>>,
    yielder: Cell<Option<*const Yielder<(), Pause>>>,
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
        let shared = Rc::new(Shared::default());
        let inner = Rc::clone(&shared);
        let coroutine = Coroutine::with_stack(Stack::new()?, move |yielder, ()| {
            inner.yielder.set(Some(yielder));
            loop {
                match inner.job.take() {
                    Some(Job::Once(job)) => job(),
                    Some(Job::Again(job)) => job(),
                    None => {}
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
    pub(super) fn with(&mut self, job: Job) -> io::Result<Box<Fiber>> {
        let fiber = match self.idle.pop() {
            Some(fiber) => fiber,
            None => Box::new(Fiber::new()?),
        };
        fiber.shared.job.set(Some(job));
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
