//! `RwLock`.

use std::{
    fmt,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    sync::{self as std_sync, LockResult, PoisonError, TryLockError, TryLockResult},
    thread::panicking,
};

use reenact_engine::{
    Access, Object,
    pool::{can_be_put_aside, poll_until_woken},
};

use super::poison::{self, Poison};
use crate::ops;

/// A reader-writer lock: [`std::sync::RwLock`], recorded.
///
/// Writers are ordered; readers only relative to writers. So a lock that is mostly read costs bytes only when it is
/// written, and its readers also run in parallel in a replay.
pub struct RwLock<T: ?Sized> {
    object: Object,
    /// Replaces the poison flag inside `raw`, which is ignored.
    poison: Poison,
    raw: std_sync::RwLock<T>,
}

/// Shared access to the data of an [`RwLock`], until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    object: &'a Object,
    raw: ManuallyDrop<std_sync::RwLockReadGuard<'a, T>>,
}

/// Exclusive access to the data of an [`RwLock`], until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    object: &'a Object,
    poison: &'a Poison,
    /// Whether the thread was already panicking when it locked: then this guard does not poison.
    panicking: bool,
    raw: ManuallyDrop<std_sync::RwLockWriteGuard<'a, T>>,
}

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
            object: Object::new(),
            poison: Poison::new(),
            raw: std_sync::RwLock::new(value),
        }
    }

    /// Consumes the lock and returns the data.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_seen();
        poison::result(poisoned, unpoisoned(self.raw.into_inner()))
    }
}

/// Converts the result of a try for the engine: `None` if it would have to wait.
fn attempted<G>(result: TryLockResult<G>) -> Option<G> {
    match result {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

impl<T: ?Sized> RwLock<T> {
    /// Acquires the lock for reading, waiting until no one writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let raw = self.object.look(
            ops::READ,
            || attempted(self.raw.try_read()),
            || self.raw_read(),
            drop,
        );
        self.reading(raw)
    }

    /// Acquires the lock for reading if no one writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let raw = self.object.try_look(
            ops::TRY_READ,
            || attempted(self.raw.try_read()),
            || self.raw_read(),
        );
        match raw {
            Some(raw) => Ok(self.reading(raw)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Acquires the lock for writing, waiting until it is free.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let raw = self.object.take_from_lookers(
            ops::WRITE,
            || attempted(self.raw.try_write()),
            || self.raw_write(),
            drop,
        );
        self.writing(raw)
    }

    /// Acquires the lock for writing if it is free.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let raw = self.object.try_take(
            ops::TRY_WRITE,
            || attempted(self.raw.try_write()),
            || self.raw_write(),
        );
        match raw {
            Some(raw) => Ok(self.writing(raw)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Waits for std's lock, which can block only threads: a process polls it until it has it.
    fn raw_read(&self) -> std_sync::RwLockReadGuard<'_, T> {
        match can_be_put_aside() {
            true => poll_until_woken(|| attempted(self.raw.try_read())),
            false => unpoisoned(self.raw.read()),
        }
    }

    fn raw_write(&self) -> std_sync::RwLockWriteGuard<'_, T> {
        match can_be_put_aside() {
            true => poll_until_woken(|| attempted(self.raw.try_write())),
            false => unpoisoned(self.raw.write()),
        }
    }

    #[track_caller]
    fn reading<'a>(
        &'a self,
        raw: std_sync::RwLockReadGuard<'a, T>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        let guard = RwLockReadGuard {
            object: &self.object,
            raw: ManuallyDrop::new(raw),
        };
        poison::result(self.poison.is_seen(), guard)
    }

    #[track_caller]
    fn writing<'a>(
        &'a self,
        raw: std_sync::RwLockWriteGuard<'a, T>,
    ) -> LockResult<RwLockWriteGuard<'a, T>> {
        let guard = RwLockWriteGuard {
            object: &self.object,
            poison: &self.poison,
            panicking: panicking(),
            raw: ManuallyDrop::new(raw),
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
        poison::result(poisoned, unpoisoned(self.raw.get_mut()))
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Atomically downgrades exclusive access to shared access: no other thread can write in between.
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let object = guard.object;
        let mut guard = ManuallyDrop::new(guard);
        // SAFETY: `guard` is never dropped, so `raw` is taken out only here.
        let raw = unsafe { ManuallyDrop::take(&mut guard.raw) };
        let raw = object.downgrade(ops::READ, || std_sync::RwLockWriteGuard::downgrade(raw));
        RwLockReadGuard {
            object,
            raw: ManuallyDrop::new(raw),
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let raw = &mut self.raw;
        self.object.leave(ops::READ_END, Access::Look, || {
            // SAFETY: `raw` is dropped here and nowhere else.
            unsafe { ManuallyDrop::drop(raw) }
        });
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.panicking && panicking() {
            self.poison.set();
        }
        let raw = &mut self.raw;
        self.object.leave(ops::WRITE_END, Access::Take, || {
            // SAFETY: `raw` is dropped here and nowhere else.
            unsafe { ManuallyDrop::drop(raw) }
        });
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.raw
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.raw
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
        let mut debug = f.debug_struct("RwLock");
        match attempted(self.raw.try_read()) {
            Some(guard) => debug.field("data", &&*guard),
            None => debug.field("data", &format_args!("<locked>")),
        };
        debug.field("poisoned", &self.poison.peek());
        debug.finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
