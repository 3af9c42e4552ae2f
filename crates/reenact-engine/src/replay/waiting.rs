//! What a sleeping activity waits for. The description is computed only if a report needs it.

use std::{
    mem::transmute,
    sync::{MutexGuard, PoisonError},
};

use super::Runner;

/// What a sleeping activity waits for.
///
/// # Invariants
///
/// 1. It is stored only in [`Runner::lock_waiting`], and only while the [`Asleep`] of the same call of
///    [`sleeps`](super::Replay::sleeps) exists. So its target is valid for the holder of that lock.
pub(super) struct WaitReason(*const (dyn Fn() -> String + Sync));

// SAFETY: The target is `Sync`.
unsafe impl Send for WaitReason {}

impl WaitReason {
    pub(super) fn new<'a>(what: &'a (dyn Fn() -> String + Sync + 'a)) -> WaitReason {
        // SAFETY: Only the lifetime changes, and invariant 1 ensures that the target outlives its uses.
        WaitReason(unsafe {
            transmute::<
                *const (dyn Fn() -> String + Sync + 'a),
                *const (dyn Fn() -> String + Sync + 'static),
            >(what)
        })
    }

    /// Returns the description.
    pub(super) fn what(&self) -> String {
        // SAFETY: By invariant 1 the target is valid, since a caller that has a reference holds the lock.
        unsafe { (*self.0)() }
    }
}

/// Exists while an activity sleeps.
pub(super) struct Asleep<'a>(pub(super) &'a Runner);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.lock_waiting().take();
    }
}

impl Runner {
    pub(super) fn lock_waiting(&self) -> MutexGuard<'_, Option<WaitReason>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
