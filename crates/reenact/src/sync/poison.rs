//! Poisoning: whether a thread panicked while it held a lock.
//!
//! A lock is poisoned by its holder, in the order of the lock; but threads that do not hold it may clear the poison and
//! ask for it in any order. So what is seen of it is recorded as an answer. This costs the holders of a lock nothing as
//! long as it has never been poisoned, which is known in the order of the lock.

use std::{
    fmt,
    sync::{
        LockResult, PoisonError,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    thread::panicking,
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
    fn set(&self) {
        if is_leaving() {
            return;
        }
        self.0.store(NOW | EVER, Relaxed);
    }

    /// Poisons the lock if the thread has begun to panic since `guard` was created. The caller holds the lock.
    #[inline(always)]
    pub(super) fn release(&self, guard: &PoisonGuard) {
        if !guard.panicking && panicking() {
            self.set();
        }
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

/// The part of a lock's guard that decides whether it poisons the lock.
pub(super) struct PoisonGuard {
    /// Whether the thread was already panicking when it locked: then this guard does not poison.
    panicking: bool,
}

impl PoisonGuard {
    #[inline(always)]
    pub(super) fn new() -> PoisonGuard {
        PoisonGuard {
            panicking: panicking(),
        }
    }
}

/// Shows a lock, with its data or what stands for it.
pub(super) fn debug_lock(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    data: &dyn fmt::Debug,
    poison: &Poison,
) -> fmt::Result {
    f.debug_struct(name)
        .field("data", data)
        .field("poisoned", &poison.peek())
        .finish_non_exhaustive()
}

/// Shows guards as the data to which they give access.
macro_rules! show_data {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

pub(super) use show_data;
