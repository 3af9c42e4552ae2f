//! The threads that work on a [block](super::block) together.
//!
//! Threads are started for the first block and wait for the next one at a barrier. During a task, the store is shared
//! with all threads for reading, and each thread writes to its own slot. Between two tasks, the search owns everything.

use std::{
    any::Any,
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard},
    thread::Scope,
};

/// A task: data shared by all workers, and a slot for each.
pub(super) trait Work: Send + Sync {
    /// The data of one worker.
    type WorkerData: Send;

    /// Performs the part of the worker with this number.
    fn work(&self, number: usize, slot: &mut Self::WorkerData);
}

/// Some workers and their task.
pub(super) struct WorkerPool<W: Work> {
    /// `None` makes the workers exit.
    work: RwLock<Option<W>>,
    slots: Vec<Mutex<W::WorkerData>>,
    /// All workers meet here before and after a task.
    barrier: Barrier,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<W: Work> WorkerPool<W> {
    pub(super) fn new(slots: Vec<W::WorkerData>) -> Self {
        WorkerPool {
            work: RwLock::new(None),
            barrier: Barrier::new(slots.len()),
            slots: slots.into_iter().map(Mutex::new).collect(),
            panic: Mutex::new(None),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Starts all threads except the calling one. They exit when the result is dropped.
    pub(super) fn start<'s>(&'s self, scope: &'s Scope<'s, '_>) -> RunningPool<'s, W> {
        for number in 1..self.slots.len() {
            scope.spawn(move || while self.take_part(number) {});
        }
        RunningPool(self)
    }

    /// Performs one task. Returns whether there will be more.
    fn take_part(&self, number: usize) -> bool {
        self.barrier.wait();
        let there_is_more = {
            let work = self.work.read().unwrap_or_else(PoisonError::into_inner);
            let mut slot = self.slot(number);
            let done = work
                .as_ref()
                .map(|work| catch_unwind(AssertUnwindSafe(|| work.work(number, &mut slot))));
            if let Some(Err(panic)) = done {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(panic);
                true
            } else {
                done.is_some()
            }
        };
        self.barrier.wait();
        there_is_more
    }

    fn slot(&self, number: usize) -> MutexGuard<'_, W::WorkerData> {
        let slot = self.slots[number].lock();
        slot.unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self) -> RwLockWriteGuard<'_, Option<W>> {
        self.work.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A pool whose threads are running.
pub(super) struct RunningPool<'s, W: Work>(&'s WorkerPool<W>);

impl<W: Work> RunningPool<'_, W> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The slot of the worker with this number, while there is no task.
    pub(super) fn slot(&self, number: usize) -> MutexGuard<'_, W::WorkerData> {
        self.0.slot(number)
    }

    /// Performs a task with all workers, and returns it.
    pub(super) fn carry_out(&self, work: W) -> W {
        *self.0.set() = Some(work);
        self.0.take_part(0);
        let panic = self
            .0
            .panic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        match mem::take(&mut *self.0.set()) {
            Some(work) => work,
            None => unreachable!("nobody takes a task away"),
        }
    }
}

impl<W: Work> Drop for RunningPool<'_, W> {
    fn drop(&mut self) {
        *self.0.set() = None;
        self.0.take_part(0);
    }
}
