//! `Mutex`.
//!
//! It does not wrap std's: the lock word, the poison flag and the object lie side by side, and the fast path is written
//! so that only loads stand between the two locked instructions. So a recorded lock can cost the same as an unrecorded
//! one.

use std::{
    cell::UnsafeCell,
    fmt,
    ops::{Deref, DerefMut},
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{LockResult, TryLockError, TryLockResult},
};

use reenact_engine::{Access, Object, Op, raw::RawMutex};

use super::poison::{self, Poison, PoisonGuard, debug_lock, show_data};
use crate::ops;

/// A mutual exclusion primitive: [`std::sync::Mutex`], recorded.
///
/// # State
///
/// | field | set by | cleared by |
/// |---|---|---|
/// | `raw` | `lock` | `unlock` |
/// | `poison` | a guard dropped by a panic that began while it was held | [`Mutex::clear_poison`], in part |
/// | `object` | the holder of `raw`, when recording or replaying | |
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    poison: Poison,
    object: Object,
    data: UnsafeCell<T>,
}

// SAFETY: The data is accessed only through guards, of which there is one at a time; so only the data itself crosses
// threads, as with std's mutex.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: A shared mutex gives access to the data only through its guard, of which there is one at a time.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// Exclusive access to the data of a [`Mutex`], until dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    poison: PoisonGuard,
    /// A guard must stay on its thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

// SAFETY: Only a guard that is borrowed mutably gives `&mut T`. A shared one gives `&T`, for which `T` is `Sync`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Creates a mutex in an unlocked state.
    #[inline]
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            raw: RawMutex::new(),
            poison: Poison::new(),
            object: Object::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// Consumes the mutex and returns the data.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_seen();
        poison::result(poisoned, self.data.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Acquires the lock, waiting until it is free.
    #[inline(always)]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.lock_as(ops::LOCK)
    }

    /// Acquires the lock as the operation `op`, for types that are built on a lock and have operations of their own.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn lock_as(&self, op: Op) -> LockResult<MutexGuard<'_, T>> {
        self.object.take(
            op,
            || self.raw.try_lock().then_some(()),
            || self.raw.lock(),
            |()| self.raw.unlock(),
        );
        self.guard()
    }

    /// Acquires the lock if it is free.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let taken = self.object.try_take(
            ops::TRY_LOCK,
            || self.raw.try_lock().then_some(()),
            || self.raw.lock(),
        );
        match taken {
            Some(()) => Ok(self.guard()?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Creates the guard after the lock has been acquired.
    #[inline(always)]
    fn guard(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = MutexGuard {
            mutex: self,
            poison: PoisonGuard::new(),
            _not_send: std::marker::PhantomData,
        };
        poison::result(self.poison.is_seen(), guard)
    }

    /// Whether a thread panicked while it held the lock.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_there()
    }

    /// Clears the poison.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// Returns the data, to which a mutable reference gives access without locking.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poison.is_seen();
        poison::result(poisoned, self.data.get_mut())
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Releases the lock while `block` waits. `block` returns with the lock reacquired, and says whether it was
    /// signalled.
    #[track_caller]
    pub(super) fn wait(
        self,
        ops: [Op; 2],
        condition: &Object,
        timed: bool,
        block: impl FnOnce(&RawMutex) -> bool,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let mutex = self.mutex;
        std::mem::forget(self);
        let signalled = mutex.object.wait(
            ops,
            condition,
            timed,
            || block(&mutex.raw),
            || mutex.raw.unlock(),
            || mutex.raw.lock(),
        );
        (mutex.guard(), signalled)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: The lock is held as long as the guard exists, so there is no other guard; and `deref_mut` would borrow this
        // one mutably.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: The lock is held, so there is no other guard; and this one is borrowed mutably.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    // A call would push a return address between the two locked instructions, and those wait for every store.
    #[inline(always)]
    fn drop(&mut self) {
        self.mutex.poison.release(&self.poison);
        let raw = &self.mutex.raw;
        self.mutex
            .object
            .leave(ops::UNLOCK, Access::Take, || raw.unlock());
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    /// Shows the data if the lock is free. This is for debugging: it is not an operation, and not recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.raw.try_lock() {
            return debug_lock(f, "Mutex", &"<locked>", &self.poison);
        }
        // SAFETY: `try_lock` has succeeded, so there is no guard before `unlock` below.
        let data = unsafe { &*self.data.get() };
        let shown = debug_lock(f, "Mutex", &data, &self.poison);
        self.raw.unlock();
        shown
    }
}

show_data! { MutexGuard }
