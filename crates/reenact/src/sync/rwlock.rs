//! `RwLock`.

use std::{
    cell::UnsafeCell,
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
    sync::{LockResult, TryLockError, TryLockResult},
};

use reenact_engine::{Access, Object, raw::RawRwLock};

use super::poison::{self, Poison, PoisonGuard, debug_lock, show_data};
use crate::ops;

/// A reader-writer lock: [`std::sync::RwLock`], recorded.
///
/// Writers are ordered; readers only relative to writers. So a lock that is mostly read costs bytes only when it is
/// written, and its readers also run in parallel in a replay.
pub struct RwLock<T: ?Sized> {
    raw: RawRwLock,
    poison: Poison,
    object: Object,
    data: UnsafeCell<T>,
}

// SAFETY: The data is owned by the lock, as with std's.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: A shared lock gives one thread at a time exclusive access, for which the data is `Send`, or several threads
// shared access, for which it is `Sync`.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// Shared access to the data of an [`RwLock`], until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    raw: &'a RawRwLock,
    object: &'a Object,
    /// A pointer, not a reference: another thread may write as soon as `drop` has released the lock, while the guard
    /// still exists. It also keeps the guard on its thread.
    data: NonNull<T>,
}

// SAFETY: Through a shared guard for reading, threads get `&T` at the same time, for which `T` is `Sync`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<T: ?Sized> UnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for RwLockReadGuard<'_, T> {}

/// Exclusive access to the data of an [`RwLock`], until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    poison: PoisonGuard,
    /// A guard must stay on its thread.
    _not_send: PhantomData<*const ()>,
}

// SAFETY: `&mut T` needs a guard that is borrowed mutably. A shared one gives `&T`, for which `T` is `Sync`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T: ?Sized> UnwindSafe for RwLockWriteGuard<'_, T> {}
impl<T: ?Sized> RefUnwindSafe for RwLockWriteGuard<'_, T> {}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> RwLock<T> {
    /// Creates an unlocked lock.
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock {
            raw: RawRwLock::new(),
            poison: Poison::new(),
            object: Object::new(),
            data: UnsafeCell::new(value),
        }
    }

    /// Consumes the lock and returns the data.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_seen();
        poison::result(poisoned, self.data.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Acquires the lock for reading, waiting until no one writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.object.look(
            ops::READ,
            || self.raw.try_read().then_some(()),
            || self.raw.read(),
            |()| self.raw.unlock_read(),
        );
        self.reading()
    }

    /// Acquires the lock for reading if no one writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let taken = self.object.try_look(
            ops::TRY_READ,
            || self.raw.try_read().then_some(()),
            || self.raw.read(),
        );
        match taken {
            Some(()) => Ok(self.reading()?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Acquires the lock for writing, waiting until it is free.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.object.take_from_sharers(
            ops::WRITE,
            || self.raw.try_write().then_some(()),
            || self.raw.write(),
            |()| self.raw.unlock_write(),
        );
        self.writing()
    }

    /// Acquires the lock for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let taken = self.object.try_take(
            ops::TRY_WRITE,
            || self.raw.try_write().then_some(()),
            || self.raw.write(),
        );
        match taken {
            Some(()) => Ok(self.writing()?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Creates a guard after the lock has been acquired for reading.
    fn reading(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        poison::result(self.poison.is_seen(), self.read_guard())
    }

    fn read_guard(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            raw: &self.raw,
            object: &self.object,
            // SAFETY: `data` is a field of a lock that exists, so its address is not null.
            data: unsafe { NonNull::new_unchecked(self.data.get()) },
        }
    }

    /// Creates the guard after the lock has been acquired for writing.
    fn writing(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let guard = RwLockWriteGuard {
            lock: self,
            poison: PoisonGuard::new(),
            _not_send: PhantomData,
        };
        poison::result(self.poison.is_seen(), guard)
    }

    /// Whether a thread panicked while it was writing.
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

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Atomically downgrades exclusive access to shared access: no other thread can write in between.
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let lock = ManuallyDrop::new(guard).lock;
        lock.object.downgrade(ops::READ, || lock.raw.downgrade());
        lock.read_guard()
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let raw = self.raw;
        self.object
            .leave(ops::READ_END, Access::Look, || raw.unlock_read());
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.poison.release(&self.poison);
        let raw = &self.lock.raw;
        self.lock
            .object
            .leave(ops::WRITE_END, Access::Take, || raw.unlock_write());
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: While this guard exists, the lock is held for reading, so nobody has `&mut T`. It borrows the lock, which
        // owns the data.
        unsafe { self.data.as_ref() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: The lock is held for writing, so there is no other guard; and `&mut T` from this one would borrow it mutably.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: The lock is held for writing, so there is no other guard, and this one is borrowed mutably.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    /// Shows the data if nobody writes. This is for debugging: it is not an operation, and not recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.raw.try_read() {
            return debug_lock(f, "RwLock", &format_args!("<locked>"), &self.poison);
        }
        // SAFETY: `try_read` has succeeded, so there is no writer before `unlock_read` below.
        let data = unsafe { &*self.data.get() };
        let shown = debug_lock(f, "RwLock", &data, &self.poison);
        self.raw.unlock_read();
        shown
    }
}

show_data! { RwLockReadGuard RwLockWriteGuard }
