//! What a run gives.
//!
//! The package `peers` includes this file, so that there is one form of the line that the harness reads.

use std::time::Instant;

use serde::{Deserialize, Serialize};

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
        let start = Instant::now();
        let ops = work();
        Self::since(start, ops)
    }

    /// So many operations, which began at `start` and end now.
    pub fn since(start: Instant, ops: u64) -> Self {
        Self {
            ns: u64::try_from(start.elapsed().as_nanos()).expect("no run takes 584 years"),
            ops,
            rss_bytes: None,
        }
    }
}
