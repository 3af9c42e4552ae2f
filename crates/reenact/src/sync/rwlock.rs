//! `RwLock`.

use std::{
    fmt,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    sync::{self as std_sync, LockResult, PoisonError, TryLockError, TryLockResult},
    thread::panicking,
};

use reenact_engine::{
    Access, Entity,
    pool::{ask_until_told, can_be_put_aside},
};

use super::poison::{self, Poison};
use crate::ops;

/// A reader-writer lock: [`std::sync::RwLock`], recorded.
///
/// Writers are ordered; readers only against writers. So a lock that is read by many and written by few costs bytes
/// only when it is written, and its readers run at the same time in a replay too.
pub struct RwLock<T: ?Sized> {
    entity: Entity,
    /// In place of the one inside `raw`, which is never asked.
    poison: Poison,
    raw: std_sync::RwLock<T>,
}

/// Shared access to what an [`RwLock`] guards, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    entity: &'a Entity,
    raw: ManuallyDrop<std_sync::RwLockReadGuard<'a, T>>,
}

/// Exclusive access to what an [`RwLock`] guards, until dropped.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    entity: &'a Entity,
    poison: &'a Poison,
    /// Whether the thread was panicking already when it locked: then this guard does not poison.
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
            entity: Entity::new(),
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

/// An attempt's result as the engine wants it: none if it would have to wait.
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
    /// Takes the lock for reading, waiting until no one writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let raw = self.entity.look(
            ops::READ,
            || attempted(self.raw.try_read()),
            || self.raw_read(),
            drop,
        );
        self.reading(raw)
    }

    /// Takes the lock for reading if it is to be had at once.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let raw = self.entity.try_look(
            ops::TRY_READ,
            || attempted(self.raw.try_read()),
            || self.raw_read(),
        );
        match raw {
            Some(raw) => Ok(self.reading(raw)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Takes the lock for writing, waiting until nobody else has it.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let raw = self.entity.take_from_lookers(
            ops::WRITE,
            || attempted(self.raw.try_write()),
            || self.raw_write(),
            drop,
        );
        self.writing(raw)
    }

    /// Takes the lock for writing if it is to be had at once.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let raw = self.entity.try_take(
            ops::TRY_WRITE,
            || attempted(self.raw.try_write()),
            || self.raw_write(),
        );
        match raw {
            Some(raw) => Ok(self.writing(raw)?),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Waits for std's lock, which knows only of threads: a process asks for it until it has it.
    fn raw_read(&self) -> std_sync::RwLockReadGuard<'_, T> {
        match can_be_put_aside() {
            true => ask_until_told(|| attempted(self.raw.try_read())),
            false => unpoisoned(self.raw.read()),
        }
    }

    fn raw_write(&self) -> std_sync::RwLockWriteGuard<'_, T> {
        match can_be_put_aside() {
            true => ask_until_told(|| attempted(self.raw.try_write())),
            false => unpoisoned(self.raw.write()),
        }
    }

    #[track_caller]
    fn reading<'a>(
        &'a self,
        raw: std_sync::RwLockReadGuard<'a, T>,
    ) -> LockResult<RwLockReadGuard<'a, T>> {
        let guard = RwLockReadGuard {
            entity: &self.entity,
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
            entity: &self.entity,
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

    /// Forgets that a thread panicked.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// The data, to which a mutable reference gives access without locking.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.poison.is_seen();
        poison::result(poisoned, unpoisoned(self.raw.get_mut()))
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Turns exclusive access into shared access, without a moment in between in which another could write.
    #[track_caller]
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let entity = guard.entity;
        let mut guard = ManuallyDrop::new(guard);
        // SAFETY: The guard that this is taken out of is not dropped.
        let raw = unsafe { ManuallyDrop::take(&mut guard.raw) };
        let raw = entity.downgrade(ops::READ, || std_sync::RwLockWriteGuard::downgrade(raw));
        RwLockReadGuard {
            entity,
            raw: ManuallyDrop::new(raw),
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let raw = &mut self.raw;
        self.entity.leave(ops::READ_END, Access::Look, || {
            // SAFETY: Dropped here and nowhere else.
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
        self.entity.leave(ops::WRITE_END, Access::Take, || {
            // SAFETY: Dropped here and nowhere else.
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
    /// Shows the data if nobody writes. Looking is not an operation: it is for people, and not recorded.
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
