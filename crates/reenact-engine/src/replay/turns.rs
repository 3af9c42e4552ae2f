//! Waiting for one's turn, and waking exactly the one whose turn it is.
//!
//! Who waits is in a table by entity, as in a parking lot; a bit in the entity's version says that someone is, so that
//! giving back an entity that nobody waits for is one addition.
//!
//! No wake-up is lost: who waits sets the bit and then looks at the version, under the lock of the table's bucket; who
//! gives back changes the version and then looks at the bit, both in one instruction (or, for looks, in two that are
//! sequentially consistent). So either the one sees the change or the other the bit.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{
        AtomicBool, AtomicU32,
        Ordering::{Relaxed, SeqCst},
    },
};

use crate::{Entity, raw::Parker};

/// Where an entity must be for an operation to have its turn.
#[derive(Clone, Copy)]
pub(super) struct Want {
    pub(super) version: u64,
    /// How many looks must have ended; none for a look itself.
    pub(super) looks: Option<u32>,
}

impl Want {
    fn is_met(self, entity: &Entity) -> bool {
        // The version first: looks are reset before it moves on.
        Turns::version(entity) == self.version
            && self
                .looks
                .is_none_or(|looks| entity.looks.load(SeqCst) == looks)
    }
}

struct Waiter {
    address: usize,
    /// None: waits for an activity to end.
    want: Option<Want>,
    parker: Arc<Parker>,
}

pub(super) struct Turns {
    buckets: Vec<Mutex<Vec<Waiter>>>,
    /// Activities that do not wait. A futex too: who exits sleeps on it.
    pub(super) awake: AtomicU32,
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
            spins: if cores > 1 { 300 } else { 0 },
        }
    }

    pub(super) fn version(entity: &Entity) -> u64 {
        entity.version.load(SeqCst) & !Entity::FLAG
    }

    fn bucket(&self, address: usize) -> MutexGuard<'_, Vec<Waiter>> {
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
        entity.version.fetch_or(Entity::FLAG, SeqCst);
        if want.is_met(entity) {
            return false;
        }
        bucket.push(Waiter {
            address,
            want: Some(want),
            parker: Arc::clone(parker),
        });
        drop(bucket);
        sleeps();
        parker.park();
        true
    }

    /// Returns when `ended` is set; otherwise as [`Turns::wait_for`].
    pub(super) fn wait_for_end(
        &self,
        ended: &AtomicBool,
        parker: &Arc<Parker>,
        sleeps: impl FnOnce(),
    ) -> bool {
        let address = std::ptr::from_ref(ended).addr();
        let mut bucket = self.bucket(address);
        if ended.load(SeqCst) {
            return false;
        }
        bucket.push(Waiter {
            address,
            want: None,
            parker: Arc::clone(parker),
        });
        drop(bucket);
        sleeps();
        parker.park();
        true
    }

    /// A take has ended.
    pub(super) fn bump(&self, entity: &Entity) {
        entity.looks.store(0, Relaxed);
        if entity.version.fetch_add(1, SeqCst) & Entity::FLAG != 0 {
            self.wake(entity);
        }
    }

    /// A look has ended.
    pub(super) fn looked(&self, entity: &Entity) {
        entity.looks.fetch_add(1, SeqCst);
        if entity.version.load(SeqCst) & Entity::FLAG != 0 {
            self.wake(entity);
        }
    }

    #[cold]
    pub(super) fn wake(&self, entity: &Entity) {
        let address = std::ptr::from_ref(entity).addr();
        let mut bucket = self.bucket(address);
        let mut others = false;
        let woken = take_where(&mut bucket, |waiter| {
            let met =
                waiter.address == address && waiter.want.is_some_and(|want| want.is_met(entity));
            others |= waiter.address == address && !met;
            met
        });
        if !others {
            entity.version.fetch_and(!Entity::FLAG, SeqCst);
        }
        drop(bucket);
        self.let_go(woken);
    }

    /// The activity that this flag belongs to has ended.
    pub(super) fn wake_joiners(&self, ended: &AtomicBool) {
        let address = std::ptr::from_ref(ended).addr();
        let mut bucket = self.bucket(address);
        let woken = take_where(&mut bucket, |waiter| {
            waiter.address == address && waiter.want.is_none()
        });
        drop(bucket);
        self.let_go(woken);
    }

    fn let_go(&self, woken: Vec<Waiter>) {
        for waiter in woken {
            // Counted here and not by the one who wakes: in between, nobody may seem to be awake.
            self.awake.fetch_add(1, SeqCst);
            waiter.parker.unpark();
        }
    }
}

fn take_where(waiters: &mut Vec<Waiter>, mut take: impl FnMut(&Waiter) -> bool) -> Vec<Waiter> {
    waiters.extract_if(.., |waiter| take(waiter)).collect()
}
