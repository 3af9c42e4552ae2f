//! What an activity runs on: a fiber, or a thread that waits for its turn.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{
    fiber::{Fiber, Pause},
    stuck,
};
use crate::captured::threads::in_kernel;

/// What an activity runs on.
pub(super) enum TaskStack {
    Fiber(Box<Fiber>),
    Thread(Arc<TurnToken>),
}

impl TaskStack {
    /// Returns a handle with which it is resumed and made to wait. The `TaskStack` may be moved while the handle is in
    /// use, but must be kept alive.
    #[inline]
    pub(super) fn end(&mut self) -> StackHandle {
        match self {
            TaskStack::Fiber(fiber) => StackHandle::Fiber(&raw mut **fiber),
            TaskStack::Thread(token) => StackHandle::Thread(Arc::as_ptr(token)),
        }
    }
}

/// See [`TaskStack::end`].
#[derive(Clone, Copy)]
pub(super) enum StackHandle {
    Fiber(*mut Fiber),
    Thread(*const TurnToken),
}

impl StackHandle {
    /// Resumes it and returns when it waits or is done.
    ///
    /// # Safety
    ///
    /// The stack is alive, and nothing else resumes it.
    #[inline]
    pub(super) unsafe fn resume(self) -> Pause {
        // SAFETY: The caller guarantees that the stack is alive and that nothing else resumes it.
        unsafe {
            match self {
                StackHandle::Fiber(fiber) => Fiber::resume(fiber),
                StackHandle::Thread(token) => (*token).lend(),
            }
        }
    }

    /// Waits until it is resumed.
    ///
    /// # Safety
    ///
    /// The calling code runs on the stack.
    #[inline]
    pub(super) unsafe fn wait(self) {
        // SAFETY: The caller guarantees that the calling code runs on the stack, so the stack is alive.
        unsafe {
            match self {
                StackHandle::Fiber(fiber) => Fiber::wait(fiber),
                StackHandle::Thread(token) => (*token).give_back(Pause::Waits),
            }
        }
    }
}

/// Hands the turn back and forth between a thread and the controller. The thread does not have the turn until it has
/// begun and the controller lends it.
#[derive(Default)]
pub(super) struct TurnToken {
    holder: Mutex<Holder>,
    changed: Condvar,
}

#[derive(Default)]
enum Holder {
    #[default]
    Nobody,
    Thread,
    Back(Pause),
    /// The thread has ended, and the controller no longer waits for it.
    Gone,
}

impl TurnToken {
    fn holder(&self) -> MutexGuard<'_, Holder> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends the turn to the thread and waits until the thread gives it back.
    fn lend(&self) -> Pause {
        let mut holder = self.holder();
        if matches!(*holder, Holder::Gone) {
            return Pause::Done;
        }
        *holder = Holder::Thread;
        self.changed.notify_all();
        let pause = loop {
            match *holder {
                Holder::Back(pause) => break pause,
                Holder::Gone => break Pause::Done,
                _ => {}
            }
            holder = self
                .changed
                .wait(holder)
                .unwrap_or_else(PoisonError::into_inner);
        };
        stuck::runs_here();
        pause
    }

    /// Waits for the turn. Called on the thread.
    pub(super) fn take(&self) {
        in_kernel(|| self.wait_for_turn());
    }

    fn wait_for_turn(&self) {
        let mut holder = self.holder();
        while !matches!(*holder, Holder::Thread) {
            holder = self
                .changed
                .wait(holder)
                .unwrap_or_else(PoisonError::into_inner);
        }
        stuck::runs_here();
    }

    /// Gives the turn back and, unless the thread is done, waits for the next turn. Called on the thread.
    pub(super) fn give_back(&self, pause: Pause) {
        in_kernel(|| {
            let mut holder = self.holder();
            *holder = match pause {
                Pause::Waits => Holder::Back(pause),
                Pause::Done | Pause::Overflowed => Holder::Gone,
            };
            self.changed.notify_all();
        });
        if pause == Pause::Waits {
            self.take();
        }
    }
}
