//! A value that activities use one after the other, in an order that is recorded.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

use reenact_engine::{Access, Object, Op, raw::RawMutex};

/// A value, the lock that keeps it, and the object that stands for both.
///
/// # Invariants
///
/// 1. `value` is touched only by who has `lock`, which is who has a [`Turn`].
pub(crate) struct Ordered<T> {
    object: Object,
    lock: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: Invariant 1: the value is used by one thread at a time.
unsafe impl<T: Send> Sync for Ordered<T> {}

/// The right to use the value, until it is dropped.
pub(crate) struct Turn<'a, T> {
    ordered: &'a Ordered<T>,
    op: Op,
}

impl<T> Ordered<T> {
    #[track_caller]
    pub(crate) fn new(value: T) -> Ordered<T> {
        Ordered {
            object: Object::new(),
            lock: RawMutex::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// The object, for questions whose answer depends on the value.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    /// Waits for the value, and in a replay for the recorded position in the order.
    #[track_caller]
    pub(crate) fn enter(&self, op: Op) -> Turn<'_, T> {
        self.object.take(
            op,
            || self.lock.try_lock().then_some(()),
            || self.lock.lock(),
            |()| self.lock.unlock(),
        );
        Turn { ordered: self, op }
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: Invariant 1.
        unsafe { &*self.ordered.value.get() }
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: Invariant 1.
        unsafe { &mut *self.ordered.value.get() }
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let Ordered { object, lock, .. } = self.ordered;
        object.leave(self.op, Access::Take, || lock.unlock());
    }
}
