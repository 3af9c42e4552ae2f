//! Which workers sleep, and how many are awake.
//!
//! The thread that wakes a worker counts it as awake before it is. Otherwise the pool would seem to be idle in between
//! (and a replay deadlocked) with a task in its queue.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{
        AtomicBool, AtomicU32,
        Ordering::{Relaxed, SeqCst},
    },
};

use crate::controller;

/// How an idle worker sleeps.
pub(super) enum IdleMode {
    /// Until it is woken. No worker is awake any more.
    Last,
    /// Until it is woken.
    Sleep,
    /// For a short time: others are at work, and may be too busy to wake anyone.
    Lookout,
}

#[derive(Default)]
pub(super) struct Sleepers {
    awake: AtomicU32,
    /// Length of the list.
    count: AtomicU32,
    /// Whether there are sleepers, none of which is on the lookout.
    unwatched: AtomicBool,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    sleeping: Vec<usize>,
    lookout: Option<usize>,
}

impl Sleepers {
    /// Counts a worker that starts or is woken as awake.
    pub(super) fn one_more_awake(&self) {
        // The controller first: a thread that finds the pool not idle, and waits for that, must not seem to be the last
        // one awake.
        controller::one_more_awake();
        self.awake.fetch_add(1, SeqCst);
    }

    /// Takes back [`Sleepers::one_more_awake`] for a worker that could not be started.
    pub(super) fn one_less_awake(&self) {
        self.awake.fetch_sub(1, SeqCst);
        controller::one_less_awake();
    }

    pub(super) fn nobody_awake(&self) -> bool {
        self.awake.load(SeqCst) == 0
    }

    /// Whether there are sleepers, none of which is on the lookout.
    #[inline]
    pub(super) fn unwatched(&self) -> bool {
        self.unwatched.load(Relaxed)
    }

    /// Adds a worker to the list of sleepers. The caller then wakes threads that wait for the pool to be idle, and only
    /// afterwards reports to the controller that the worker sleeps: those threads count as awake by then.
    pub(super) fn lie_down(&self, worker: usize) -> IdleMode {
        let mut list = self.lock();
        list.sleeping.push(worker);
        let rest = if self.awake.fetch_sub(1, SeqCst) == 1 {
            IdleMode::Last
        } else if list.lookout.is_none() {
            list.lookout = Some(worker);
            IdleMode::Lookout
        } else {
            IdleMode::Sleep
        };
        self.changed(&list);
        rest
    }

    /// Removes a worker from the list. Returns false if another thread has woken it already, and counted it.
    pub(super) fn get_up(&self, worker: usize) -> bool {
        self.rouse_this(worker)
    }

    /// Removes the worker that fell asleep last from the list. The caller wakes it.
    pub(super) fn rouse(&self) -> Option<usize> {
        if self.count.load(SeqCst) == 0 {
            return None;
        }
        let mut list = self.lock();
        let last = list.sleeping.len().checked_sub(1)?;
        Some(self.take_off(&mut list, last))
    }

    /// Removes this worker from the list, like [`Sleepers::rouse`]. Returns false if it is not on the list.
    pub(super) fn rouse_this(&self, worker: usize) -> bool {
        let mut list = self.lock();
        let place = list.sleeping.iter().position(|&other| other == worker);
        if let Some(place) = place {
            self.take_off(&mut list, place);
        }
        place.is_some()
    }

    fn take_off(&self, list: &mut List, place: usize) -> usize {
        let worker = list.sleeping.remove(place);
        if list.lookout == Some(worker) {
            list.lookout = None;
        }
        self.one_more_awake();
        self.changed(list);
        worker
    }

    fn changed(&self, list: &List) {
        let sleeping = list.sleeping.len();
        self.count.store(sleeping as u32, SeqCst);
        self.unwatched
            .store(sleeping > 0 && list.lookout.is_none(), SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
