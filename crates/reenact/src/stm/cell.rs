//! Where the value of a variable is, and the word that guards it.
//!
//! Small plain values, those that have nothing to drop, are in the cell itself and read as under a sequence lock: copied,
//! and then looked at whether the word has changed meanwhile. All others are behind a pointer which a commit exchanges;
//! the old value goes when no transaction that might still read it runs, and so does a cell whose last handle is gone.

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

/// In the word: someone writes.
pub(super) const LOCKED: u64 = 1;
/// In the word: someone may sleep until this changes.
pub(super) const WAITERS: u64 = 2;
/// Where the version begins.
const VERSION: u32 = 2;

/// What transactions need to know of a variable, whatever it holds.
///
/// # State
///
/// `word` is `version << 2 | WAITERS | LOCKED`, where the version is the time of the commit that wrote the value.
///
/// | bit | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `LOCKED` | a commit is about to write | `lock` | `publish`, with the new version; `unlock`, with the old one |
/// | `WAITERS` | someone sleeps until it changes | `await_change`, where nobody has it locked | `publish`, whose caller wakes them |
///
/// # Invariants
///
/// 1. Only who has it locked writes the value or the word.
/// 2. The version never goes down; so the same word before and after a copy means that nobody wrote.
#[repr(C)]
pub(super) struct Core {
    word: AtomicU64,
    handles: AtomicUsize,
    /// What a controller knows it by.
    pub(super) name: Name,
}

impl Core {
    /// Its identity, for tables.
    #[inline(always)]
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// The word without what readers are not concerned with. Even if nobody has it locked.
    #[inline(always)]
    pub(super) fn version_and_lock(&self) -> u64 {
        // Acquire: pairs with the Release in `publish`.
        self.word.load(Acquire) & !WAITERS
    }

    /// Locks it if nobody else has: the word before.
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

    /// Gives it back unchanged: to the word before.
    #[inline(always)]
    pub(super) fn unlock(&self, before: u64) {
        self.word.store(before, Release);
    }

    /// Gives it back with another value, which is of this time.
    #[inline(always)]
    pub(super) fn publish(&self, time: u64) {
        // Release: pairs with the Acquire of whoever reads or locks it next.
        self.word.store(word_of(time), Release);
    }

    /// Has whoever changes it wake those who wait, provided that it has not changed since it was read as `seen`.
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

/// The word of a value that was written at this time.
#[inline(always)]
pub(super) const fn word_of(time: u64) -> u64 {
    time << VERSION
}

/// The time at which the value was written.
#[inline(always)]
pub(super) const fn time_of(word: u64) -> u64 {
    word >> VERSION
}

/// A variable's value and what guards it. The core comes first: a pointer to either is one to both.
#[repr(C)]
pub(super) struct Cell<T> {
    core: Core,
    slot: UnsafeCell<Slot<T>>,
}

/// Which of the two it is depends on `T` alone.
union Slot<T> {
    inline: ManuallyDrop<MaybeUninit<T>>,
    boxed: ManuallyDrop<AtomicPtr<T>>,
}

/// Whether values of this type are behind a pointer.
pub(super) const fn is_boxed<T>() -> bool {
    needs_drop::<T>()
}

impl<T> Cell<T> {
    /// A variable with one handle.
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
            core: Core {
                word: AtomicU64::new(0),
                handles: AtomicUsize::new(1),
                name: Name::new(),
            },
            slot: UnsafeCell::new(slot),
        });
        ptr::NonNull::from(Box::leak(cell))
    }

    #[inline(always)]
    pub(super) fn core(&self) -> &Core {
        &self.core
    }

    /// A pointer to the core from which one to the cell can be made again.
    #[inline(always)]
    pub(super) fn erased(&self) -> *const Core {
        ptr::from_ref(self).cast()
    }

    /// One more handle.
    #[inline(always)]
    pub(super) fn retain(&self) {
        let handles = self.core.handles.fetch_add(1, Relaxed);
        assert!(handles < usize::MAX / 2, "too many handles of one TVar");
    }

    /// One handle less. The last one frees the cell, once no transaction can have it in its log.
    ///
    /// # Safety
    ///
    /// The caller has a handle and does not use it any more.
    pub(super) unsafe fn release(cell: ptr::NonNull<Cell<T>>) {
        // SAFETY: The caller's handle keeps it.
        let handles = unsafe { &cell.as_ref().core.handles };
        // Release: what was done through this handle comes before the cell is freed.
        if handles.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            // SAFETY: No handle is left, so only transactions that run now can have it; they are pinned. The value, as any
            // that is given to a cell, may be dropped at any time and on any thread.
            unsafe { epoch::pin().defer_unchecked(move || Cell::free(cell)) };
        }
    }

    /// # Safety
    ///
    /// It came from `allocate`, and nobody can use it any more.
    unsafe fn free(cell: ptr::NonNull<Cell<T>>) {
        // SAFETY: The caller's.
        unsafe {
            let cell = Box::from_raw(cell.as_ptr());
            if is_boxed::<T>() {
                drop(Box::from_raw((*cell.slot.get()).boxed.load(Relaxed)));
            }
        }
    }

    /// The value as it was while the word was `word`, or none if that has changed.
    ///
    /// # Safety
    ///
    /// `word` was read from the core before and is not locked; and the caller is pinned for as long as `'g`.
    #[inline(always)]
    pub(super) unsafe fn read<'g>(&self, word: u64) -> Option<Seen<'g, T>>
    where
        T: 'g,
    {
        let seen = if is_boxed::<T>() {
            // SAFETY: The slot is of this kind. What it points to is dropped only after the caller's pin.
            unsafe { Seen::Behind(&*(*self.slot.get()).boxed.load(Acquire)) }
        } else {
            // SAFETY: The slot is of this kind. A commit may write at the same time; then the word differs below and the
            // bytes are not looked at. Volatile, so that the compiler does not read more than once.
            Seen::Copied(unsafe {
                ptr::read_volatile(self.slot.get().cast::<ManuallyDrop<MaybeUninit<T>>>())
            })
        };
        // The copy comes before the second look at the word. Pairs with the Release fence in `replace`.
        fence(Acquire);
        (self.core.word.load(Relaxed) & !WAITERS == word).then_some(seen)
    }

    /// Exchanges the value; the old one goes when nobody can read it any more.
    ///
    /// # Safety
    ///
    /// The caller has the core locked. A value behind a pointer is moved out of `value` along with its box.
    #[inline(always)]
    pub(super) unsafe fn replace(&self, value: *mut T, guard: &Guard)
    where
        T: Send + 'static,
    {
        // Whoever sees what is written now also sees that the word was locked. Pairs with the Acquire fence in `read`.
        fence(Release);
        if is_boxed::<T>() {
            // SAFETY: The slot is of this kind, and nobody else writes to it. Readers of the old value are pinned.
            unsafe {
                let slot = &(*self.slot.get()).boxed;
                let old = slot.load(Relaxed);
                slot.store(value, Release);
                guard.defer_unchecked(move || drop(Box::from_raw(old)));
            }
        } else {
            // SAFETY: As above; there is nothing to drop. Readers may read at the same time, see there.
            unsafe {
                let value = ptr::read(value.cast::<MaybeUninit<T>>());
                ptr::write_volatile(self.slot.get().cast::<MaybeUninit<T>>(), value);
            }
        }
    }
}

/// A value that was read: in place, or a copy of its bytes.
pub(super) enum Seen<'g, T> {
    Behind(&'g T),
    Copied(ManuallyDrop<MaybeUninit<T>>),
}

impl<T> Seen<'_, T> {
    /// The value, which is whole: whoever has a `Seen` knows that nobody wrote while it was read.
    #[inline(always)]
    pub(super) fn value(&self) -> &T {
        match self {
            Seen::Behind(value) => value,
            // SAFETY: The bytes are those of a value. It is not dropped: it has nothing to drop.
            Seen::Copied(bytes) => unsafe { bytes.assume_init_ref() },
        }
    }
}
