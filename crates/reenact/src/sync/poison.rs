//! Poisoning: whether a thread panicked while it held a lock.
//!
//! A lock is poisoned by its holder, in the order of the lock; but threads that do not hold it may clear the poison and
//! ask for it in any order. So what is seen of it is recorded as an answer. This costs the holders of a lock nothing as
//! long as it has never been poisoned, which is known in the order of the lock.

use std::sync::{
    LockResult, PoisonError,
    atomic::{AtomicU8, Ordering::Relaxed},
};

use reenact_engine::{choose, thread::is_leaving};

use crate::ops;

/// # State
///
/// | bit | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `NOW` | poisoned | `set`, with the lock | `clear`, by anyone |
/// | `EVER` | has been poisoned | `set`, with the lock | nobody |
#[derive(Default)]
pub(super) struct Poison(AtomicU8);

const NOW: u8 = 1;
const EVER: u8 = 2;

impl Poison {
    pub(super) const fn new() -> Poison {
        Poison(AtomicU8::new(0))
    }

    /// Whether the lock is poisoned, for a caller with exclusive access.
    #[inline(always)]
    #[track_caller]
    pub(super) fn is_seen(&self) -> bool {
        self.0.load(Relaxed) != 0 && self.is_seen_again()
    }

    #[cold]
    #[track_caller]
    fn is_seen_again(&self) -> bool {
        choose(ops::IS_POISONED, 1, || self.peek().into()) != 0
    }

    /// Whether the lock is poisoned, for any caller.
    #[track_caller]
    pub(super) fn is_there(&self) -> bool {
        choose(ops::IS_POISONED, 0, || self.peek().into()) != 0
    }

    /// Returns the poison without that being an operation, for debugging.
    pub(super) fn peek(&self) -> bool {
        self.0.load(Relaxed) & NOW != 0
    }

    /// Poisons the lock. The caller holds it.
    #[cold]
    pub(super) fn set(&self) {
        if is_leaving() {
            return;
        }
        self.0.store(NOW | EVER, Relaxed);
    }

    pub(super) fn clear(&self) {
        self.0.fetch_and(!NOW, Relaxed);
    }
}

/// Wraps `value` in an error if poisoned.
#[inline(always)]
pub(super) fn result<T>(poisoned: bool, value: T) -> LockResult<T> {
    if poisoned {
        Err(PoisonError::new(value))
    } else {
        Ok(value)
    }
}
