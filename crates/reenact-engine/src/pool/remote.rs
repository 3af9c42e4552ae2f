//! The part of a worker that other threads access.

use std::{
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicPtr, AtomicU32,
            Ordering::{Acquire, Relaxed, SeqCst},
        },
    },
};

use crossbeam_deque::Stealer;

use super::{
    carrier::Inbox,
    task::{Scheduled, Task},
};
use crate::raw::Parker;

/// The part of a worker that other threads access.
pub(super) struct Remote {
    /// The task that the worker scheduled last. Only the worker stores one here; any thread may take it.
    pub(super) last: AtomicPtr<Task>,
    /// Steals from the worker's queue. Set before the worker's thread starts.
    pub(super) stealer: Mutex<Option<Stealer<Scheduled>>>,
    /// Roughly how many tasks the worker has run; shows the lookout whether it is stuck in one.
    pub(super) runs: AtomicU32,
    /// Whether the worker is blocked in a task.
    pub(super) is_blocked: AtomicBool,
    /// Carriers of this worker that other threads have woken.
    pub(super) inbox: Inbox,
    /// Whether the worker sleeps, or is about to: a thread that pushes to the inbox must wake it.
    pub(super) rests: AtomicBool,
    /// Whether the worker sleeps with a deadline because one of its carriers has a timer.
    pub(super) sleeps_until: AtomicBool,
    /// How many carriers of this worker wait.
    pub(super) waiting: AtomicU32,
    pub(super) parker: Parker,
}

impl Remote {
    pub(super) fn new() -> Remote {
        Remote {
            last: AtomicPtr::new(std::ptr::null_mut()),
            stealer: Mutex::new(None),
            runs: AtomicU32::new(0),
            is_blocked: AtomicBool::new(false),
            inbox: Inbox::default(),
            rests: AtomicBool::new(false),
            sleeps_until: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
            parker: Parker::default(),
        }
    }

    pub(super) fn stealer(&self) -> Option<Stealer<Scheduled>> {
        self.stealer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether the worker has a task that is queued, or a carrier in its inbox.
    pub(super) fn has_queued(&self) -> bool {
        let stealer = self.stealer.lock().unwrap_or_else(PoisonError::into_inner);
        !self.last.load(SeqCst).is_null()
            || !self.inbox.is_surely_empty()
            || stealer.as_ref().is_some_and(|stealer| !stealer.is_empty())
    }

    /// Takes the task that was scheduled last; for any thread.
    pub(super) fn take_last(&self) -> Option<Scheduled> {
        if self.last.load(Relaxed).is_null() {
            return None;
        }
        NonNull::new(self.last.swap(std::ptr::null_mut(), Acquire)).map(Scheduled)
    }
}
