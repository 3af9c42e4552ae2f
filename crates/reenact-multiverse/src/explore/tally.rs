//! What those who divide an exploration among them share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Which part of an exploration is next, how many executions there were, and whether it is over for all.
///
/// Nothing but atomics, so that it may be in memory that processes share. Nothing is handed over through them: each part
/// stands for itself.
#[derive(Debug, Default)]
pub struct Tally {
    /// The first part that nobody has taken.
    next: AtomicU64,
    executions: AtomicU64,
    is_over: AtomicBool,
}

/// The part that a process has in an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Whether it is the one that asked for the others: what was done before counts for it alone.
    pub is_first: bool,
    /// What it shares with the others.
    pub tally: &'a Tally,
}

impl Tally {
    pub(super) fn take(&self, count: u64) -> u64 {
        self.next.fetch_add(count, Relaxed)
    }

    pub(super) fn executions(&self) -> u64 {
        self.executions.load(Relaxed)
    }

    /// So many more executions. How many there were before.
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
