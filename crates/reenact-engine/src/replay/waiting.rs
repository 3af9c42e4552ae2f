//! What an activity waits for, as long as it sleeps. It is put into words only if somebody has to be told.

use std::{
    mem::transmute,
    sync::{MutexGuard, PoisonError},
};

use super::Runner;

/// What an activity that sleeps waits for.
///
/// # Invariants
///
/// 1. It is in [`Runner::lock_waiting`] and nowhere else, and only while the [`Asleep`] of the same call of
///    [`sleeps`](super::Replay::sleeps) is there. So what it points to is there for whoever has that lock.
pub(super) struct Waiting(*const (dyn Fn() -> String + Sync));

// SAFETY: What it points to is `Sync`.
unsafe impl Send for Waiting {}

impl Waiting {
    pub(super) fn new<'a>(what: &'a (dyn Fn() -> String + Sync + 'a)) -> Waiting {
        // SAFETY: Only the lifetime changes, and invariant 1 sees to that.
        Waiting(unsafe {
            transmute::<
                *const (dyn Fn() -> String + Sync + 'a),
                *const (dyn Fn() -> String + Sync + 'static),
            >(what)
        })
    }

    /// In words.
    pub(super) fn what(&self) -> String {
        // SAFETY: Invariant 1: who has a reference has the lock.
        unsafe { (*self.0)() }
    }
}

/// An activity sleeps as long as this is there.
pub(super) struct Asleep<'a>(pub(super) &'a Runner);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.lock_waiting().take();
    }
}

impl Runner {
    pub(super) fn lock_waiting(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
