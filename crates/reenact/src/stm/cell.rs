//! The value of a variable, and the word that guards it.
//!
//! Small plain values, which need no drop, are in the cell itself and read as under a sequence lock: copied, and then
//! the word is checked for changes. All others are behind a pointer that a commit exchanges; the old value is freed
//! when no running transaction can still read it, and so is a cell whose last handle is gone.

use std::{
    cell::UnsafeCell,
    mem::{ManuallyDrop, MaybeUninit, needs_drop},
    ptr,
    sync::atomic::{
        AtomicPtr, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
        fence,
    },
};

use crossbeam_epoch::{self as epoch, Guard};
use reenact_engine::Name;

/// In the word: a commit is writing.
pub(super) const LOCKED: u64 = 1;
/// In the word: a transaction may sleep until this changes.
pub(super) const WAITERS: u64 = 2;
/// Position of the version in the word.
const VERSION: u32 = 2;

/// The part of a variable that does not depend on its type.
///
/// # State
///
/// `word` is `version << 2 | WAITERS | LOCKED`, where the version is the time of the commit that wrote the value.
///
/// | bit | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `LOCKED` | a commit is about to write | `lock` | `publish`, with the new version; `unlock`, with the old one |
/// | `WAITERS` | a transaction sleeps until it changes | `await_change`, if it is not locked | `publish`, whose caller wakes them |
///
/// # Invariants
///
/// 1. Only the holder of the lock writes the value or the word, except for the `WAITERS` bit.
/// 2. The version never decreases; so the same word before and after a copy means that nobody wrote.
#[repr(C)]
pub(super) struct VarCore {
    word: AtomicU64,
    handles: AtomicUsize,
    /// The name by which a controller knows the variable.
    pub(super) name: Name,
}

impl VarCore {
    /// Returns the variable's identity, for tables.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Returns the word without the `WAITERS` bit, which does not concern readers. It is even if the cell is not
    /// locked.
    #[inline(always)]
    pub(super) fn version_and_lock(&self) -> u64 {
        // Acquire: pairs with the Release in `publish`.
        self.word.load(Acquire) & !WAITERS
    }

    /// Locks the cell if it is not locked, and returns the word before.
    #[inline(always)]
    pub(super) fn lock(&self) -> Option<u64> {
        let word = self.word.load(Relaxed);
        if word & LOCKED != 0 {
            return None;
        }
        // Acquire: pairs with the Release in `publish` and `unlock`.
        self.word
            .compare_exchange(word, word | LOCKED, Acquire, Relaxed)
            .ok()
    }

    /// Unlocks the cell unchanged, restoring the word before.
    #[inline(always)]
    pub(super) fn unlock(&self, before: u64) {
        self.word.store(before, Release);
    }

    /// Unlocks the cell with a new value, written at this time.
    #[inline(always)]
    pub(super) fn publish(&self, time: u64) {
        // Release: pairs with the Acquire of the next reader or locker.
        self.word.store(word_of(time), Release);
    }

    /// Makes the next change wake its waiters, if the variable has not changed since it was read as `seen`.
    pub(super) fn await_change(&self, seen: u64) -> bool {
        let mut word = self.word.load(Relaxed);
        while word & !WAITERS == seen {
            if word & WAITERS != 0 {
                return true;
            }
            match self
                .word
                .compare_exchange_weak(word, word | WAITERS, Relaxed, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }
}

/// Returns the word of a value that was written at this time.
#[inline(always)]
pub(super) const fn word_of(time: u64) -> u64 {
    time << VERSION
}

/// Returns the time at which the value was written.
#[inline(always)]
pub(super) const fn time_of(word: u64) -> u64 {
    word >> VERSION
}

/// A variable's value and its core. The core comes first, so a pointer to either points to both.
#[repr(C)]
pub(super) struct Cell<T> {
    core: VarCore,
    slot: UnsafeCell<Slot<T>>,
}

/// `T` alone determines which of the two it is.
union Slot<T> {
    inline: ManuallyDrop<MaybeUninit<T>>,
    boxed: ManuallyDrop<AtomicPtr<T>>,
}

/// Whether values of this type are behind a pointer.
pub(super) const fn is_boxed<T>() -> bool {
    needs_drop::<T>()
}

impl<T> Cell<T> {
    /// Allocates a variable with one handle.
    #[track_caller]
    pub(super) fn allocate(value: T) -> ptr::NonNull<Cell<T>>
    where
        T: Send + 'static,
    {
        let slot = if is_boxed::<T>() {
            Slot {
                boxed: ManuallyDrop::new(AtomicPtr::new(Box::into_raw(Box::new(value)))),
            }
        } else {
            Slot {
                inline: ManuallyDrop::new(MaybeUninit::new(value)),
            }
        };
        let cell = Box::new(Cell {
            core: VarCore {
                word: AtomicU64::new(0),
                handles: AtomicUsize::new(1),
                name: Name::new(),
            },
            slot: UnsafeCell::new(slot),
        });
        ptr::NonNull::from(Box::leak(cell))
    }

    #[inline(always)]
    pub(super) fn core(&self) -> &VarCore {
        &self.core
    }

    /// Returns a pointer to the core that can be cast back to the cell.
    #[inline(always)]
    pub(super) fn erased(&self) -> *const VarCore {
        ptr::from_ref(self).cast()
    }

    /// Adds a handle.
    #[inline(always)]
    pub(super) fn retain(&self) {
        let handles = self.core.handles.fetch_add(1, Relaxed);
        assert!(handles < usize::MAX / 2, "too many handles of one TVar");
    }

    /// Removes a handle. The last one frees the cell, once no transaction can have it in its log.
    ///
    /// # Safety
    ///
    /// The caller owns a handle and does not use it any more.
    pub(super) unsafe fn release(cell: ptr::NonNull<Cell<T>>) {
        // SAFETY: The caller's handle keeps the cell alive.
        let handles = unsafe { &cell.as_ref().core.handles };
        // Release: everything done through this handle happens before the cell is freed.
        if handles.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            // SAFETY: No handle is left, so only transactions that run now can access the cell; they are pinned. The
            // value may be dropped at any time and on any thread, like any value that is given to a cell.
            unsafe { epoch::pin().defer_unchecked(move || Cell::free(cell)) };
        }
    }

    /// # Safety
    ///
    /// It came from `allocate`, and nobody can use it any more.
    unsafe fn free(cell: ptr::NonNull<Cell<T>>) {
        // SAFETY: The cell came from a box, and nobody else uses it. A boxed slot owns its value.
        unsafe {
            let cell = Box::from_raw(cell.as_ptr());
            if is_boxed::<T>() {
                drop(Box::from_raw((*cell.slot.get()).boxed.load(Relaxed)));
            }
        }
    }

    /// Returns the value as it was while the word was `word`, or none if the word has changed.
    ///
    /// # Safety
    ///
    /// `word` was read from the core before and is not locked; and the caller is pinned for as long as `'g`.
    #[inline(always)]
    pub(super) unsafe fn read<'g>(&self, word: u64) -> Option<ReadValue<'g, T>>
    where
        T: 'g,
    {
        let seen = if is_boxed::<T>() {
            // SAFETY: `T` determines the kind of slot. The value is dropped only after the caller's pin.
            unsafe { ReadValue::Behind(&*(*self.slot.get()).boxed.load(Acquire)) }
        } else {
            // SAFETY: `T` determines the kind of slot. A commit may write at the same time; then the word differs below
            // and the bytes are not used. Volatile, so that the compiler does not read more than once.
            ReadValue::Copied(unsafe {
                ptr::read_volatile(self.slot.get().cast::<ManuallyDrop<MaybeUninit<T>>>())
            })
        };
        // The copy comes before the second load of the word. Pairs with the Release fence in `replace`.
        fence(Acquire);
        (self.core.word.load(Relaxed) & !WAITERS == word).then_some(seen)
    }

    /// Replaces the value; the old one is freed when nobody can read it any more.
    ///
    /// # Safety
    ///
    /// The caller has locked the core. A value behind a pointer is moved out of `value` along with its box.
    #[inline(always)]
    pub(super) unsafe fn replace(&self, value: *mut T, guard: &Guard)
    where
        T: Send + 'static,
    {
        // A thread that sees the new value also sees that the word was locked. Pairs with the Acquire fence in `read`.
        fence(Release);
        if is_boxed::<T>() {
            // SAFETY: `T` determines the kind of slot, and nobody else writes to it. Readers of the old value are
            // pinned.
            unsafe {
                let slot = &(*self.slot.get()).boxed;
                let old = slot.load(Relaxed);
                slot.store(value, Release);
                guard.defer_unchecked(move || drop(Box::from_raw(old)));
            }
        } else {
            // SAFETY: `T` determines the kind of slot, nobody else writes to it, and there is nothing to drop. Readers
            // may read at the same time: `read` then discards the bytes.
            unsafe {
                let value = ptr::read(value.cast::<MaybeUninit<T>>());
                ptr::write_volatile(self.slot.get().cast::<MaybeUninit<T>>(), value);
            }
        }
    }
}

/// A value that was read: a reference to it, or a copy of its bytes.
pub(super) enum ReadValue<'g, T> {
    Behind(&'g T),
    Copied(ManuallyDrop<MaybeUninit<T>>),
}

impl<T> ReadValue<'_, T> {
    /// Returns the value, which is consistent: a `ReadValue` exists only if nobody wrote while it was read.
    #[inline(always)]
    pub(super) fn value(&self) -> &T {
        match self {
            ReadValue::Behind(value) => value,
            // SAFETY: The bytes are those of a complete value. It is not dropped: it needs no drop.
            ReadValue::Copied(bytes) => unsafe { bytes.assume_init_ref() },
        }
    }
}
