//! Waiting for a turn at an object, and waking exactly the activities whose turn it is.
//!
//! Waiters are in a table by the object's address, as in `parking_lot`. The object itself stores the lowest version
//! that an activity waits for, so that a release before that version is one addition and one load.
//!
//! No wake-up is lost: a waiter stores the version that it wants and then loads the current version; a release changes
//! the version and then loads the wanted one. All four accesses are sequentially consistent, so either the waiter sees
//! the change or the release sees the waiter. Wanted versions are written only under the lock of the table's bucket.

#[cfg(all(test, loom))]
mod model;

use std::sync::Arc;

use crate::{
    Object, Spot,
    loom::{
        AtomicU32,
        Ordering::{Relaxed, SeqCst},
        checks,
    },
    pool::{can_be_put_aside, is_work_queued},
    raw::{Parker, WaiterTable, Waiters, spin_while},
};

/// The state that an object must have reached for an operation to have its turn.
#[derive(Clone, Copy)]
pub(super) struct Want {
    pub(super) version: u64,
    /// How many looks must have ended; `None` for a look itself.
    pub(super) looks: Option<u32>,
}

impl Want {
    /// Returns the wanted version as the object stores it: plus one, since 0 means that there is no waiter.
    fn wish(self) -> u64 {
        self.version.wrapping_add(1)
    }

    fn is_met(self, object: &Object) -> bool {
        // The version first: looks are reset before it advances.
        object.version.load(SeqCst) == self.version
            && self
                .looks
                .is_none_or(|looks| object.looks.load(SeqCst) == looks)
    }
}

/// Ends a take, which advances the version. Returns whether an activity waits for the new version.
#[inline(always)]
pub(super) fn end_take(object: &Object) -> bool {
    object.looks.store(0, Relaxed);
    let version = object.version.fetch_add(1, SeqCst) + 1;
    is_wanted(object, version)
}

#[inline(always)]
pub(super) fn is_wanted(object: &Object, version: u64) -> bool {
    let wish = object.wanted.load(SeqCst) & Object::WISH;
    wish != 0 && version >= wish - 1
}

/// Stores the lowest wanted version; 0 if there is no waiter. Called with the object's bucket locked.
fn set_wish(object: &Object, wish: u64) {
    // Not a plain store: a log may number the object at the same time.
    let with_wish = |kept: u64| Some(kept & !Object::WISH | wish.min(Object::WISH));
    let _ = object.wanted.fetch_update(SeqCst, Relaxed, with_wish);
}

/// Adds a waiter, unlocks the table, and sleeps.
fn sleep(
    mut waiters: Waiters<'_, Waiter>,
    want: Option<Want>,
    parker: &Arc<Parker>,
    sleeps: impl FnOnce(),
) {
    let waiter = Waiter {
        want,
        parker: Arc::clone(parker),
        counts: !can_be_put_aside(),
    };
    waiters.add(want.map_or(0, Want::wish), waiter);
    drop(waiters);
    sleeps();
    parker.park();
}

struct Waiter {
    /// `None` if it waits at a spot.
    want: Option<Want>,
    parker: Arc<Parker>,
    /// Whether it counts as awake while it runs. A thread does; for a task, its worker does.
    counts: bool,
}

pub(super) struct Turns {
    /// Waiters by the address of an object, and then by the [`Want::wish`] that they wait for; or by the address of a
    /// spot.
    waiters: WaiterTable<Waiter>,
    /// The number of activities that do not wait. Also a futex on which the thread that ends the process sleeps.
    pub(super) awake: AtomicU32,
    /// How often an activity has been woken.
    awakenings: AtomicU32,
    /// How often to check before sleeping; 0 on one core.
    spins: u32,
}

impl Turns {
    pub(super) fn new() -> Turns {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Turns {
            waiters: WaiterTable::new(),
            awake: AtomicU32::new(0),
            awakenings: AtomicU32::new(0),
            spins: checks(if cores > 1 { 300 } else { 0 }),
        }
    }

    /// Counts an activity that is awake, or about to be.
    pub(super) fn one_more_awake(&self) {
        self.awake.fetch_add(1, SeqCst);
        self.awakenings.fetch_add(1, SeqCst);
    }

    /// Whether at most `but` activities are awake and nothing is queued for a worker. The queue matters because a
    /// blocked worker does not count as awake, but arranges for another worker to take its tasks.
    pub(super) fn nobody_moves(&self, but: u32) -> bool {
        let awakenings = self.awakenings.load(SeqCst);
        self.awake.load(SeqCst) <= but
            && !is_work_queued()
            // A worker that has taken a task in between has counted itself as awake.
            && self.awakenings.load(SeqCst) == awakenings
            && self.awake.load(SeqCst) <= but
    }

    /// Waits until the object is in the wanted state. Calls `sleeps` once, before sleeping; returns whether it slept.
    pub(super) fn wait_for(
        &self,
        object: &Object,
        want: Want,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        if !spin_while(self.spins, || !want.is_met(object)) {
            return false;
        }
        let waiters = self.waiters.lock(std::ptr::from_ref(object).addr());
        let wish = object.wanted.load(Relaxed) & Object::WISH;
        if wish == 0 || want.wish() < wish {
            set_wish(object, want.wish());
        }
        if want.is_met(object) {
            // The wanted version stays until the next call of `wake` corrects it.
            return false;
        }
        sleep(waiters, Some(want), parker, sleeps);
        true
    }

    /// Waits until the spot is over, otherwise like [`Turns::wait_for`].
    pub(super) fn wait_at(
        &self,
        spot: Spot<'_>,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        let waiters = self.waiters.lock(spot.address());
        if spot.is_over() {
            return false;
        }
        sleep(waiters, None, parker, sleeps);
        true
    }

    /// Ends a take.
    #[inline]
    pub(super) fn bump(&self, object: &Object) {
        if end_take(object) {
            self.wake(object);
        }
    }

    /// Ends a look.
    pub(super) fn looked(&self, object: &Object) {
        object.looks.fetch_add(1, SeqCst);
        if is_wanted(object, object.version.load(Relaxed)) {
            self.wake(object);
        }
    }

    /// Wakes waiters of an object that has advanced its version itself.
    pub(super) fn moved(&self, object: &Object) {
        if is_wanted(object, object.version.load(SeqCst)) {
            self.wake(object);
        }
    }

    /// Wakes all activities whose turn it is at this object.
    #[cold]
    pub(super) fn wake(&self, object: &Object) {
        let mut waiters = self.waiters.lock(std::ptr::from_ref(object).addr());
        // Waiters for higher versions do not have their turn.
        let reached = object.version.load(SeqCst).wrapping_add(1);
        let woken = waiters.extract_if(0..=reached, |waiter| {
            waiter.want.is_some_and(|want| want.is_met(object))
        });
        set_wish(object, waiters.first_rank().unwrap_or(0));
        drop(waiters);
        self.let_go(woken);
    }

    /// Wakes all waiters at this spot.
    pub(super) fn unpark(&self, spot: Spot<'_>) {
        let woken = self.waiters.lock(spot.address()).drain();
        self.let_go(woken);
    }

    fn let_go(&self, woken: Vec<Waiter>) {
        for waiter in woken {
            // Counted here and not by the woken activity: otherwise nobody would seem to be awake in between.
            if waiter.counts {
                self.one_more_awake();
            }
            waiter.parker.unpark();
        }
    }
}
