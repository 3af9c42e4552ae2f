//! `LazyLock`.

use std::{
    fmt,
    ops::Deref,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Mutex as StdMutex, PoisonError},
};

use super::{OnceLock, once::LAZY_LOCK};

/// A value that is initialized on first access: [`std::sync::LazyLock`], recorded.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    /// Taken by the thread that initializes the value; the cell decides which, so this lock is never contended.
    init: StdMutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Creates a value that `f` will initialize.
    #[must_use]
    #[track_caller]
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock {
            cell: OnceLock::new(),
            init: StdMutex::new(Some(f)),
        }
    }

    /// Returns the value, initializing it if necessary.
    #[inline]
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init_as(&LAZY_LOCK, || {
            let init = this
                .init
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            match init {
                Some(init) => init(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F> LazyLock<T, F> {
    /// Returns the value, if it has been initialized.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.cell.get_as(&LAZY_LOCK)
    }

    /// Returns the value, if it has been initialized.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.cell.get_mut()
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns the value, initializing it if necessary.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.cell.get_mut().expect("it has just been made")
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[inline]
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_tuple("LazyLock");
        match self.cell.peek() {
            Some(value) => debug.field(value),
            None => debug.field(&format_args!("<uninit>")),
        };
        debug.finish()
    }
}
