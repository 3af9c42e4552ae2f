//! What an activity runs on, as whoever lets it run sees it: a fiber, or a thread that waits for its turn.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::fiber::{Fiber, Pause};
use crate::captured::threads::in_kernel;

/// What an activity runs on.
pub(super) enum Strand {
    Fiber(Box<Fiber>),
    Thread(Arc<Baton>),
}

impl Strand {
    /// The end by which it is made to run and to wait. The strand itself may be moved meanwhile, but has to be kept.
    #[inline]
    pub(super) fn end(&mut self) -> StrandEnd {
        match self {
            Strand::Fiber(fiber) => StrandEnd::Fiber(&raw mut **fiber),
            Strand::Thread(baton) => StrandEnd::Thread(Arc::as_ptr(baton)),
        }
    }
}

/// See [`Strand::end`].
#[derive(Clone, Copy)]
pub(super) enum StrandEnd {
    Fiber(*mut Fiber),
    Thread(*const Baton),
}

impl StrandEnd {
    /// Lets it run until it waits or is done.
    ///
    /// # Safety
    ///
    /// The strand is there, and nobody else lets it run.
    #[inline]
    pub(super) unsafe fn resume(self) -> Pause {
        // SAFETY: The caller's.
        unsafe {
            match self {
                StrandEnd::Fiber(fiber) => Fiber::resume(fiber),
                StrandEnd::Thread(baton) => (*baton).lend(),
            }
        }
    }

    /// Waits until it is resumed.
    ///
    /// # Safety
    ///
    /// The calling code runs on the strand.
    #[inline]
    pub(super) unsafe fn wait(self) {
        // SAFETY: The caller's; what it runs on is there as long as it runs.
        unsafe {
            match self {
                StrandEnd::Fiber(fiber) => Fiber::wait(fiber),
                StrandEnd::Thread(baton) => (*baton).give_back(Pause::Waits),
            }
        }
    }
}

/// Whose turn it is: that of a thread, or of who lets it run. It is the latter's until the thread has begun.
#[derive(Default)]
pub(super) struct Baton {
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Default)]
enum Turn {
    #[default]
    Nobody,
    Thread,
    Back(Pause),
    /// The thread is not to be waited for any more.
    Gone,
}

impl Baton {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread run until it gives it back.
    fn lend(&self) -> Pause {
        let mut turn = self.turn();
        if matches!(*turn, Turn::Gone) {
            return Pause::Done;
        }
        *turn = Turn::Thread;
        self.changed.notify_all();
        loop {
            match *turn {
                Turn::Back(pause) => return pause,
                Turn::Gone => return Pause::Done,
                _ => {}
            }
            turn = self
                .changed
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for its turn, on the thread.
    pub(super) fn take(&self) {
        in_kernel(|| self.wait_for_turn());
    }

    fn wait_for_turn(&self) {
        let mut turn = self.turn();
        while !matches!(*turn, Turn::Thread) {
            turn = self
                .changed
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives it back, on the thread; unless that is done, until its next turn.
    pub(super) fn give_back(&self, pause: Pause) {
        in_kernel(|| {
            let mut turn = self.turn();
            *turn = match pause {
                Pause::Waits => Turn::Back(pause),
                Pause::Done | Pause::Overflowed => Turn::Gone,
            };
            self.changed.notify_all();
        });
        if pause == Pause::Waits {
            self.take();
        }
    }
}
