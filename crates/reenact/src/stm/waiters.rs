//! Transactions that sleep until a variable that they read changes.
//!
//! Waiters are in a table by address, and a bit in the variable's word says that there are some, so that a commit to a
//! variable without waiters does not look here.
//!
//! No wake-up is lost. A waiter first enters the table and then sets the bit, which succeeds only if the variable is
//! neither changed nor locked; otherwise it does not sleep. A commit locks the variable, and then sees the bit or never
//! will: it cannot be set while the lock is held. The commit looks into the table after it has published, and every
//! waiter that set the bit before is there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reenact_engine::raw::Parker;

use super::cell::VarCore;

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

/// A transaction that is about to sleep.
pub(super) struct Waiting {
    parker: Arc<Parker>,
    /// Its keys in the table. The variables may be gone meanwhile; the addresses are only keys.
    addresses: Vec<usize>,
}

impl Waiting {
    /// Registers a wait for a change of these variables, each of which was read with this word. Returns none if one has
    /// changed.
    pub(super) fn for_change_of<'a>(
        reads: impl Iterator<Item = (&'a VarCore, u64)>,
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

    /// Sleeps until a variable changes.
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

/// Wakes the waiters of the variable at this address.
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
