//! Waiting for a turn at an object, and waking exactly the activities whose turn it is.
//!
//! Waiters are in a table by the object's address, as in `parking_lot`. The object itself stores the lowest version
//! that an activity waits for, so that a release before that version is one addition and one load.
//!
//! No wake-up is lost: a waiter stores the version that it wants and then loads the current version; a release changes
//! the version and then loads the wanted one. All four accesses are sequentially consistent, so either the waiter sees
//! the change or the release sees the waiter. Wanted versions are written only under the lock of the table's bucket.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU32,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use crate::{
    Object, Spot,
    pool::{can_be_put_aside, is_work_queued},
    raw::Parker,
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

struct Waiter {
    /// `None` if it waits at a spot.
    want: Option<Want>,
    parker: Arc<Parker>,
    /// Whether it counts as awake while it runs. A thread does; for a task, its worker does.
    counts: bool,
}

/// Waiters by the address of an object and the wanted version, or by the address of a spot and 0. A map, because a
/// million activities may wait at one object, and the next one must be found quickly.
type Bucket = BTreeMap<(usize, u64), Vec<Waiter>>;

pub(super) struct Turns {
    buckets: Vec<Mutex<Bucket>>,
    /// The number of activities that do not wait. Also a futex on which the thread that ends the process sleeps.
    pub(super) awake: AtomicU32,
    /// How often an activity has been woken.
    awakenings: AtomicU32,
    /// How often to check before sleeping; 0 on one core.
    spins: u32,
}

const BUCKETS: usize = 64;

impl Turns {
    pub(super) fn new() -> Turns {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Turns {
            buckets: (0..BUCKETS).map(|_| Mutex::default()).collect(),
            awake: AtomicU32::new(0),
            awakenings: AtomicU32::new(0),
            spins: if cores > 1 { 300 } else { 0 },
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

    fn bucket(&self, address: usize) -> MutexGuard<'_, Bucket> {
        let bucket =
            address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - BUCKETS.trailing_zeros());
        self.buckets[bucket]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the object is in the wanted state. Calls `sleeps` once, before sleeping; returns whether it slept.
    pub(super) fn wait_for(
        &self,
        object: &Object,
        want: Want,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        for _ in 0..self.spins {
            if want.is_met(object) {
                return false;
            }
            std::hint::spin_loop();
        }
        let address = std::ptr::from_ref(object).addr();
        let mut bucket = self.bucket(address);
        let wish = object.wanted.load(Relaxed) & Object::WISH;
        if wish == 0 || want.wish() < wish {
            set_wish(object, want.wish());
        }
        if want.is_met(object) {
            // The wanted version stays until the next call of `wake` corrects it.
            return false;
        }
        let waiters = bucket.entry((address, want.wish())).or_default();
        waiters.push(Waiter {
            want: Some(want),
            parker: Arc::clone(parker),
            counts: !can_be_put_aside(),
        });
        drop(bucket);
        sleeps();
        parker.park();
        true
    }

    /// Waits until the spot is over, otherwise like [`Turns::wait_for`].
    pub(super) fn wait_at(
        &self,
        spot: Spot<'_>,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        let address = spot.address();
        let mut bucket = self.bucket(address);
        if spot.is_over() {
            return false;
        }
        let waiters = bucket.entry((address, 0)).or_default();
        waiters.push(Waiter {
            want: None,
            parker: Arc::clone(parker),
            counts: !can_be_put_aside(),
        });
        drop(bucket);
        sleeps();
        parker.park();
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
        let address = std::ptr::from_ref(object).addr();
        let mut bucket = self.bucket(address);
        let mut woken = Vec::new();
        let mut wish = 0;
        while let Some((&key, _)) = bucket
            .range((address, wish + 1)..=(address, u64::MAX))
            .next()
            && let Entry::Occupied(mut waiters) = bucket.entry(key)
        {
            wish = key.1;
            // Waiters for higher versions do not have their turn either.
            if wish > object.version.load(SeqCst).wrapping_add(1) {
                break;
            }
            let is_met = |waiter: &mut Waiter| waiter.want.is_some_and(|want| want.is_met(object));
            woken.extend(waiters.get_mut().extract_if(.., is_met));
            if !waiters.get().is_empty() {
                break;
            }
            waiters.remove();
            wish = 0;
        }
        set_wish(object, wish);
        drop(bucket);
        self.let_go(woken);
    }

    /// Wakes all waiters at this spot.
    pub(super) fn unpark(&self, spot: Spot<'_>) {
        let address = spot.address();
        let mut bucket = self.bucket(address);
        let woken = bucket.remove(&(address, 0)).unwrap_or_default();
        drop(bucket);
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
