//! `OnceLock`: a recorded [`Once`] that orders accesses, and std's cell that holds the value.

use std::{fmt, sync as std_sync};

use super::{
    Once,
    once::{ONCE_LOCK, Ops},
};

/// A cell that can be written once: [`std::sync::OnceLock`], recorded.
pub struct OnceLock<T> {
    once: Once,
    cell: std_sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// Creates an empty cell.
    #[must_use]
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            once: Once::new(),
            cell: std_sync::OnceLock::new(),
        }
    }

    /// Returns the value, if there is one.
    #[inline]
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.get_as(&ONCE_LOCK)
    }

    /// Does the same for types that are built on `OnceLock` and have operations of their own.
    #[inline]
    #[track_caller]
    pub(super) fn get_as(&self, ops: &'static Ops) -> Option<&T> {
        if self.once.is_completed_as(ops) {
            self.cell.get()
        } else {
            None
        }
    }

    /// Returns the value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.cell.get_mut()
    }

    /// Returns the value without that being an operation, for debugging.
    pub(super) fn peek(&self) -> Option<&T> {
        self.cell.get()
    }

    /// Returns the value, waiting until there is one.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.once.wait_as(&ONCE_LOCK, true);
        self.cell
            .get()
            .expect("the value is there before the cell is complete")
    }

    /// Sets the value, or returns it as an error if there is already one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("taken once"));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Returns the value, setting it to the result of `f` if there is none.
    #[inline]
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.get_or_init_as(&ONCE_LOCK, f)
    }

    /// Does the same for types that are built on `OnceLock` and have operations of their own.
    #[inline]
    #[track_caller]
    pub(super) fn get_or_init_as<F: FnOnce() -> T>(&self, ops: &'static Ops, f: F) -> &T {
        self.once.call_once_force_as(ops, |_| {
            let made = f();
            assert!(self.cell.set(made).is_ok(), "reentrant init");
        });
        self.cell
            .get()
            .expect("the value is there once the cell is complete")
    }

    /// Consumes the cell and returns the value.
    pub fn into_inner(self) -> Option<T> {
        self.cell.into_inner()
    }

    /// Takes the value out, leaving the cell empty.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        let cell = OnceLock::new();
        let _ = cell.set(value);
        cell
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cell.fmt(f)
    }
}
