//! Transactions that sleep until something that they read changes.
//!
//! Who sleeps is in a table by address, and the variable's word says that someone does, so that a commit to a variable
//! for which nobody waits does not look here.
//!
//! No wake-up is lost. Who is going to sleep puts itself into the table first and then sets the bit, which succeeds only
//! if the variable is neither changed nor locked; otherwise it does not sleep. A commit locks the variable, and finds the
//! bit then or never: no one can set it while the lock is held. It looks into the table after it has published, and
//! whoever set the bit before is there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reenact_engine::raw::Parker;

use super::cell::Core;

struct Waiter {
    address: usize,
    parker: Arc<Parker>,
}

const BUCKETS: usize = 64;
static TABLE: [Mutex<Vec<Waiter>>; BUCKETS] = [const { Mutex::new(Vec::new()) }; BUCKETS];

fn bucket(address: usize) -> MutexGuard<'static, Vec<Waiter>> {
    let place = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
    TABLE[place as usize]
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Someone who is going to sleep.
pub(super) struct Waiting {
    parker: Arc<Parker>,
    /// Where it is in the table. Variables may be gone meanwhile; these are only names.
    addresses: Vec<usize>,
}

impl Waiting {
    /// To be woken when one of these changes, each of which has been read as this word. None if one has changed.
    pub(super) fn for_change_of<'a>(
        reads: impl Iterator<Item = (&'a Core, u64)>,
    ) -> Option<Waiting> {
        let mut waiting = Waiting {
            parker: Arc::default(),
            addresses: Vec::new(),
        };
        for (core, seen) in reads {
            let address = core.address();
            bucket(address).push(Waiter {
                address,
                parker: Arc::clone(&waiting.parker),
            });
            waiting.addresses.push(address);
            if !core.await_change(seen) {
                return None;
            }
        }
        Some(waiting)
    }

    /// Sleeps until then.
    pub(super) fn sleep(self) {
        self.parker.park();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for &address in &self.addresses {
            bucket(address).retain(|waiter| !Arc::ptr_eq(&waiter.parker, &self.parker));
        }
    }
}

/// The variable at this address has changed.
#[cold]
pub(super) fn wake(address: usize) {
    let mut bucket = bucket(address);
    let woken: Vec<_> = bucket
        .extract_if(.., |waiter| waiter.address == address)
        .collect();
    drop(bucket);
    for waiter in woken {
        waiter.parker.unpark();
    }
}
