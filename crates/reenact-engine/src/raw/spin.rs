//! Waiting without sleeping, for what another thread is about to do.

use crate::loom::{checks, spin_loop, yield_now};

/// How often to check before sleeping, or before yielding to other threads.
pub(super) const SPINS: u32 = checks(100);

/// Spins while `condition` holds, checking it at most this often. Returns whether it held all the time.
pub(crate) fn spin_while(times: u32, mut condition: impl FnMut() -> bool) -> bool {
    for _ in 0..times {
        if !condition() {
            return false;
        }
        spin_loop();
    }
    true
}

/// Waits while `condition` holds, without sleeping: for what ends within a few instructions, unless the system has just
/// preempted the thread that ends it. Spins at first, and then yields to that thread.
#[cold]
pub fn yield_while(mut condition: impl FnMut() -> bool) {
    if spin_while(SPINS, &mut condition) {
        while condition() {
            yield_now();
        }
    }
}
