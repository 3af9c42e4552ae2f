//! Transactional variables.

use std::{
    fmt,
    marker::PhantomData,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

use super::{atomically, cell::Cell, error::StmResult, transaction::Transaction};

/// A variable that transactions read and write.
///
/// This is a handle: a clone refers to the same variable. Two handles are equal if they refer to the same variable,
/// whatever it holds.
///
/// Values are cloned when they are read; put large ones into an [`Arc`](std::sync::Arc), or use [`TVar::read_with`]. An
/// overwritten value is dropped some time later, by any thread; so is the last one.
pub struct TVar<T> {
    cell: NonNull<Cell<T>>,
    /// Invariant in `T`: the variable holds values of `T`, and accepts no values of a supertype.
    ///
    /// ```compile_fail
    /// use reenact::stm::TVar;
    ///
    /// fn of_fewer(var: TVar<for<'a> fn(&'a str)>) -> TVar<fn(&'static str)> {
    ///     var
    /// }
    /// ```
    owns: PhantomData<std::cell::Cell<T>>,
}

// SAFETY: Any thread may read values, hence `Sync`, and drop them, hence `Send`.
unsafe impl<T: Send + Sync> Send for TVar<T> {}
// SAFETY: A shared handle allows what a clone of it on this thread does: reading, writing and dropping values.
unsafe impl<T: Send + Sync> Sync for TVar<T> {}

impl<T> TVar<T> {
    #[inline(always)]
    fn cell(&self) -> &Cell<T> {
        // SAFETY: The cell lives as long as there is a handle.
        unsafe { self.cell.as_ref() }
    }

    /// Whether both handles refer to the same variable.
    pub fn ptr_eq(&self, other: &TVar<T>) -> bool {
        self.cell == other.cell
    }
}

impl<T: Send + Sync + 'static> TVar<T> {
    /// Creates a variable.
    #[track_caller]
    pub fn new(value: T) -> TVar<T> {
        TVar {
            cell: Cell::allocate(value),
            owns: PhantomData,
        }
    }

    /// Returns the result of `look` on the variable's value, without a clone.
    #[inline(always)]
    pub fn read_with<R>(&self, tx: &mut Transaction, look: impl FnOnce(&T) -> R) -> StmResult<R> {
        tx.read_with(self.cell(), look)
    }

    /// Writes the variable. Others see the value after the transaction has committed.
    #[inline(always)]
    pub fn write(&self, tx: &mut Transaction, value: T) -> StmResult<()> {
        tx.write(self.cell(), value);
        Ok(())
    }
}

impl<T: Clone + Send + Sync + 'static> TVar<T> {
    /// Reads the variable.
    #[inline(always)]
    pub fn read(&self, tx: &mut Transaction) -> StmResult<T> {
        tx.read_with(self.cell(), T::clone)
    }

    /// Replaces the value by the result of `change` on it.
    #[inline(always)]
    pub fn modify(&self, tx: &mut Transaction, change: impl FnOnce(T) -> T) -> StmResult<()> {
        let value = self.read(tx)?;
        self.write(tx, change(value))
    }

    /// Writes the variable and returns the previous value.
    #[inline(always)]
    pub fn replace(&self, tx: &mut Transaction, value: T) -> StmResult<T> {
        let before = self.read(tx)?;
        self.write(tx, value)?;
        Ok(before)
    }

    /// Reads the variable in a transaction of its own.
    ///
    /// # Panics
    ///
    /// Panics within a transaction, as [`atomically`] does.
    #[track_caller]
    pub fn read_atomic(&self) -> T {
        atomically(|tx| self.read(tx))
    }
}

// A transaction that panics changes nothing, so no variable is left inconsistent.
impl<T> UnwindSafe for TVar<T> {}
impl<T> RefUnwindSafe for TVar<T> {}

impl<T> Clone for TVar<T> {
    #[inline]
    fn clone(&self) -> TVar<T> {
        self.cell().retain();
        TVar {
            cell: self.cell,
            owns: PhantomData,
        }
    }
}

impl<T> Drop for TVar<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: This handle is not used afterwards.
        unsafe { Cell::release(self.cell) };
    }
}

impl<T: Default + Send + Sync + 'static> Default for TVar<T> {
    #[track_caller]
    fn default() -> TVar<T> {
        TVar::new(T::default())
    }
}

impl<T: Send + Sync + 'static> From<T> for TVar<T> {
    fn from(value: T) -> TVar<T> {
        TVar::new(value)
    }
}

impl<T> PartialEq for TVar<T> {
    fn eq(&self, other: &TVar<T>) -> bool {
        self.ptr_eq(other)
    }
}

impl<T> Eq for TVar<T> {}

impl<T> fmt::Debug for TVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TVar").finish_non_exhaustive()
    }
}
