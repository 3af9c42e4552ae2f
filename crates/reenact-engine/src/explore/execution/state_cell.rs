//! Where the state of an execution is kept: used by one thread at a time, and borrowed by one function at a time.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

#[cfg(debug_assertions)]
use std::cell::Cell;

use super::state::State;

/// The state of an execution.
///
/// Like a `RefCell` that is only ever borrowed mutably, except that release builds do not check: an execution of a
/// small program takes a few hundred instructions per step and borrows its state a dozen times in each. All tests run
/// with the check.
///
/// # Invariants
///
/// 1. One thread at a time uses an execution: the one that explores, or the one that has the turn.
/// 2. A [`StateRef`] is dropped before other code of the execution runs: an activity, a strategy, or a closure that
///    may perform operations or panic.
pub(super) struct StateCell {
    state: UnsafeCell<State>,
    #[cfg(debug_assertions)]
    is_borrowed: Cell<bool>,
}

// SAFETY: Only one thread at a time uses an execution (invariant 1).
unsafe impl Send for StateCell {}
// SAFETY: Only one thread at a time uses an execution (invariant 1), so shared references are not used concurrently.
unsafe impl Sync for StateCell {}

impl StateCell {
    pub(super) fn new(state: State) -> StateCell {
        StateCell {
            state: UnsafeCell::new(state),
            #[cfg(debug_assertions)]
            is_borrowed: Cell::new(false),
        }
    }

    /// Borrows the state.
    ///
    /// # Panics
    ///
    /// Panics in debug builds if the state is borrowed.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub(super) fn borrow(&self) -> StateRef<'_> {
        #[cfg(debug_assertions)]
        assert!(
            !self.is_borrowed.replace(true),
            "the state of the execution is borrowed already"
        );
        StateRef(self)
    }
}

impl StateCell {
    /// Returns the state, whether it is borrowed or not.
    ///
    /// # Safety
    ///
    /// Nothing uses the state as long as the reference is used.
    pub(super) unsafe fn peek(&self) -> &State {
        // SAFETY: The caller guarantees that nothing else uses it.
        unsafe { &*self.state.get() }
    }
}

/// A borrowed state.
pub(crate) struct StateRef<'a>(&'a StateCell);

impl Deref for StateRef<'_> {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: No other thread uses the state (invariant 1), and no other `StateRef` exists (invariant 2).
        unsafe { &*self.0.state.get() }
    }
}

impl DerefMut for StateRef<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: As in `deref`; and this `StateRef` is borrowed mutably.
        unsafe { &mut *self.0.state.get() }
    }
}

#[cfg(debug_assertions)]
impl Drop for StateRef<'_> {
    fn drop(&mut self) {
        self.0.is_borrowed.set(false);
    }
}
