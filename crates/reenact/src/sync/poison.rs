//! Whether a thread panicked with a lock.
//!
//! Poison comes with the lock, in the order of the lock; but it may be cleared, and asked for, by those who do not have it,
//! in no order at all. So what is seen of it is recorded as an answer. To those who take the lock that costs nothing as
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

    /// For who has the lock, or nobody else can have it.
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

    /// For anyone.
    #[track_caller]
    pub(super) fn is_there(&self) -> bool {
        choose(ops::IS_POISONED, 0, || self.peek().into()) != 0
    }

    /// Without that being an operation: for showing it to people.
    pub(super) fn peek(&self) -> bool {
        self.0.load(Relaxed) & NOW != 0
    }

    /// For who has the lock.
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

/// An error if poisoned.
#[inline(always)]
pub(super) fn result<T>(poisoned: bool, value: T) -> LockResult<T> {
    if poisoned {
        Err(PoisonError::new(value))
    } else {
        Ok(value)
    }
}
