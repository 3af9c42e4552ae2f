//! State shared by the threads or processes that divide an exploration.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The next part of an exploration to take, the number of executions so far, and whether to stop.
///
/// Consists only of atomics, so that it can be placed in memory shared between processes. Relaxed suffices: no data is
/// published through them, since each part is independent.
#[derive(Debug, Default)]
pub struct Tally {
    /// The first part that is not taken.
    next: AtomicU64,
    executions: AtomicU64,
    is_over: AtomicBool,
}

/// A process's part in an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Whether this is the original process. What was done before the division counts for it alone.
    pub is_first: bool,
    /// The state shared with the other processes.
    pub tally: &'a Tally,
}

impl Tally {
    pub(super) fn take(&self, count: u64) -> u64 {
        self.next.fetch_add(count, Relaxed)
    }

    pub(super) fn executions(&self) -> u64 {
        self.executions.load(Relaxed)
    }

    /// Adds executions. Returns the number before.
    pub(super) fn count(&self, executions: u64) -> u64 {
        self.executions.fetch_add(executions, Relaxed)
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Relaxed);
    }
}
