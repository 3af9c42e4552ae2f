//! Waiting for one's turn, and waking exactly the one whose turn it is.
//!
//! Who waits is in a table by entity, as in a parking lot; the entity says which version someone waits for next, so that
//! giving it back before that is one addition and one look.
//!
//! No wake-up is lost: who waits writes down what is wanted and then looks at the version; who gives back changes the
//! version and then looks at what is wanted; all four sequentially consistent. So either the one sees the change or
//! the other the wish. Wishes are written only under the lock of the table's bucket.

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
    Entity, Spot,
    pool::{can_be_put_aside, is_work_queued},
    raw::Parker,
};

/// Where an entity must be for an operation to have its turn.
#[derive(Clone, Copy)]
pub(super) struct Want {
    pub(super) version: u64,
    /// How many looks must have ended; none for a look itself.
    pub(super) looks: Option<u32>,
}

impl Want {
    /// As an entity keeps it.
    fn wish(self) -> u64 {
        self.version.wrapping_add(1)
    }

    fn is_met(self, entity: &Entity) -> bool {
        // The version first: looks are reset before it moves on.
        entity.version.load(SeqCst) == self.version
            && self
                .looks
                .is_none_or(|looks| entity.looks.load(SeqCst) == looks)
    }
}

/// The version moves on. Whether someone waits for that.
#[inline(always)]
pub(super) fn end_take(entity: &Entity) -> bool {
    entity.looks.store(0, Relaxed);
    let version = entity.version.fetch_add(1, SeqCst) + 1;
    is_wanted(entity, version)
}

#[inline(always)]
pub(super) fn is_wanted(entity: &Entity, version: u64) -> bool {
    let wish = entity.wanted.load(SeqCst) & Entity::WISH;
    wish != 0 && version >= wish - 1
}

/// Writes down the lowest wish; 0 if nobody waits. Called with the entity's bucket locked.
fn set_wish(entity: &Entity, wish: u64) {
    // Not a plain store: a log may number the entity at the same time.
    let with_wish = |kept: u64| Some(kept & !Entity::WISH | wish.min(Entity::WISH));
    let _ = entity.wanted.fetch_update(SeqCst, Relaxed, with_wish);
}

struct Waiter {
    /// None: waits at a spot.
    want: Option<Want>,
    parker: Arc<Parker>,
    /// Whether it counts as awake when it is: a thread. Of a task, its worker does.
    counts: bool,
}

/// Who waits, by what for: the address of an entity and the wish, or the address of a spot and 0. A million may wait for
/// their turn at one entity, and the next has to be found at once.
type Bucket = BTreeMap<(usize, u64), Vec<Waiter>>;

pub(super) struct Turns {
    buckets: Vec<Mutex<Bucket>>,
    /// Activities that do not wait. A futex too: who exits sleeps on it.
    pub(super) awake: AtomicU32,
    /// How often somebody has woken.
    awakenings: AtomicU32,
    /// How often to look before sleeping; pointless on one core.
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

    /// Somebody is awake, or about to be.
    pub(super) fn one_more_awake(&self) {
        self.awake.fetch_add(1, SeqCst);
        self.awakenings.fetch_add(1, SeqCst);
    }

    /// Whether no more than so many are awake, and nothing is queued for a worker: one that blocks is not awake any more, but
    /// sees to it that another one takes what is in its queue.
    pub(super) fn nobody_moves(&self, but: u32) -> bool {
        let awakenings = self.awakenings.load(SeqCst);
        self.awake.load(SeqCst) <= but
            && !is_work_queued()
            // Who took something in between has woken for it.
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

    /// Returns when the entity is as wanted. `sleeps` is called before sleeping, once.
    pub(super) fn wait_for(
        &self,
        entity: &Entity,
        want: Want,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        for _ in 0..self.spins {
            if want.is_met(entity) {
                return false;
            }
            std::hint::spin_loop();
        }
        let address = std::ptr::from_ref(entity).addr();
        let mut bucket = self.bucket(address);
        let wish = entity.wanted.load(Relaxed) & Entity::WISH;
        if wish == 0 || want.wish() < wish {
            set_wish(entity, want.wish());
        }
        if want.is_met(entity) {
            // The wish stays until the next one looks for whom to wake.
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

    /// Returns when there is nothing to wait for at this spot; otherwise as [`Turns::wait_for`].
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

    /// A take has ended.
    #[inline]
    pub(super) fn bump(&self, entity: &Entity) {
        if end_take(entity) {
            self.wake(entity);
        }
    }

    /// A look has ended.
    pub(super) fn looked(&self, entity: &Entity) {
        entity.looks.fetch_add(1, SeqCst);
        if is_wanted(entity, entity.version.load(Relaxed)) {
            self.wake(entity);
        }
    }

    /// An entity that moves on by itself has done so.
    pub(super) fn moved(&self, entity: &Entity) {
        if is_wanted(entity, entity.version.load(SeqCst)) {
            self.wake(entity);
        }
    }

    /// Wakes all whose turn it is at this entity.
    #[cold]
    pub(super) fn wake(&self, entity: &Entity) {
        let address = std::ptr::from_ref(entity).addr();
        let mut bucket = self.bucket(address);
        let mut woken = Vec::new();
        let mut wish = 0;
        while let Some((&key, _)) = bucket
            .range((address, wish + 1)..=(address, u64::MAX))
            .next()
            && let Entry::Occupied(mut waiters) = bucket.entry(key)
        {
            wish = key.1;
            // Nobody further on has its turn either.
            if wish > entity.version.load(SeqCst).wrapping_add(1) {
                break;
            }
            let is_met = |waiter: &mut Waiter| waiter.want.is_some_and(|want| want.is_met(entity));
            woken.extend(waiters.get_mut().extract_if(.., is_met));
            if !waiters.get().is_empty() {
                break;
            }
            waiters.remove();
            wish = 0;
        }
        set_wish(entity, wish);
        drop(bucket);
        self.let_go(woken);
    }

    /// Wakes all who wait at this spot.
    pub(super) fn unpark(&self, spot: Spot<'_>) {
        let address = spot.address();
        let mut bucket = self.bucket(address);
        let woken = bucket.remove(&(address, 0)).unwrap_or_default();
        drop(bucket);
        self.let_go(woken);
    }

    fn let_go(&self, woken: Vec<Waiter>) {
        for waiter in woken {
            // Counted here and not by the one who wakes: in between, nobody may seem to be awake.
            if waiter.counts {
                self.one_more_awake();
            }
            waiter.parker.unpark();
        }
    }
}
