//! What a run gives.
//!
//! The package `peers` includes this file, so that there is one form of the line that the harness reads.

use serde::{Deserialize, Serialize};

/// A moment of the run, in nanoseconds. Not an `Instant`: the clock that this one asks is recorded, and in a replay says what it
/// said then.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

impl Moment {
    /// Now.
    pub fn now() -> Self {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).expect("the clock counts from the start");
        Self(seconds * 1_000_000_000 + now.tv_nsec as u64)
    }
}

/// What one run gives: the line that `reenact-bench-round` and `peer-round` print.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Wall time of the work, without its preparation and without the start of the process.
    pub ns: u64,
    /// Operations that recording has to order: a lock taken (again, after a wait), a message sent
    /// or received, an atomic operation, a rendezvous, a transaction committed. Unlocking and notifying are not counted.
    pub ops: u64,
    /// How much more memory was resident after the work than before, where that is what is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
}

impl Measured {
    /// Times `work`, which returns its number of operations.
    pub fn around(work: impl FnOnce() -> u64) -> Self {
        let start = Moment::now();
        let ops = work();
        Self::since(start, ops)
    }

    /// Times `rounds` calls of `round`, which returns its number of operations.
    pub fn rounds(rounds: u64, round: impl FnMut(u64) -> u64) -> Self {
        Self::around(|| (0..rounds).map(round).sum())
    }

    /// So many operations, which began at `start` and end now.
    pub fn since(start: Moment, ops: u64) -> Self {
        Self {
            ns: Moment::now().0 - start.0,
            ops,
            rss_bytes: None,
        }
    }
}
