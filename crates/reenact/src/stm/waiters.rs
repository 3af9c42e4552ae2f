//! Transactions that sleep until a variable that they read changes.
//!
//! Waiters are in a table by address, and a bit in the variable's word says that there are some, so that a commit to a
//! variable without waiters does not look here.
//!
//! No wake-up is lost. A waiter first enters the table and then sets the bit, which succeeds only if the variable is
//! neither changed nor locked; otherwise it does not sleep. A commit locks the variable, and then sees the bit or never
//! will: it cannot be set while the lock is held. The commit looks into the table after it has published, and every
//! waiter that set the bit before is there.

use std::sync::Arc;

use reenact_engine::raw::{Parker, WaiterKey, WaiterTable};

use super::cell::VarCore;

/// Waiters by the address of a variable.
static TABLE: WaiterTable<Arc<Parker>> = WaiterTable::new();

/// A transaction that is about to sleep.
pub(super) struct Waiting {
    parker: Arc<Parker>,
    /// Its entries in the table. The variables may be gone meanwhile; their addresses are only keys.
    entries: Vec<WaiterKey>,
}

impl Waiting {
    /// Registers a wait for a change of these variables, each of which was read with this word. Returns none if one has
    /// changed.
    pub(super) fn for_change_of<'a>(
        reads: impl Iterator<Item = (&'a VarCore, u64)>,
    ) -> Option<Waiting> {
        let mut waiting = Waiting {
            parker: Arc::default(),
            entries: Vec::new(),
        };
        for (core, seen) in reads {
            let parker = Arc::clone(&waiting.parker);
            let entry = TABLE.lock(core.address()).add(0, parker);
            waiting.entries.push(entry);
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
        for &entry in &self.entries {
            TABLE.remove(entry);
        }
    }
}

/// Wakes the waiters of the variable at this address.
#[cold]
pub(super) fn wake(address: usize) {
    let woken = TABLE.lock(address).drain();
    for parker in woken {
        parker.unpark();
    }
}
