//! The writes of a transaction, which others cannot see yet.
//!
//! Values of any type are in one list, small ones inline. Each alternative of [`or_else`](super::Transaction::or_else)
//! is a level: within it, earlier writes are left unchanged, so that it can be rolled back.

use std::{hint::cold_path, mem::MaybeUninit, ptr};

use crossbeam_epoch::Guard;

use super::{
    cell::{Cell, VarCore, WAITERS, is_boxed},
    contention::Backoff,
};

/// Maximum size in words of a value that is stored inline.
const WORDS: usize = 4;
/// With more writes than this, they are indexed in a table.
const MANY: usize = 8;

type Bytes = [MaybeUninit<u64>; WORDS];

/// A value to be written by the commit.
struct Write {
    core: *const VarCore,
    /// The core's word before it was locked.
    before: u64,
    /// The value, or a pointer to its box.
    bytes: Bytes,
    ops: &'static ValueOps,
}

/// The operations on a value of an erased type.
struct ValueOps {
    /// Moves the value to its variable, which is locked.
    publish: unsafe fn(*const VarCore, &mut Bytes, &Guard),
    /// Drops the value.
    discard: unsafe fn(&mut Bytes),
    /// Whether the value is one inline word, so that `publish` need not be called.
    is_word: bool,
}

/// How values of type `T` are stored.
struct Stored<T>(std::marker::PhantomData<T>);

impl<T: Send + 'static> Stored<T> {
    const OPS: &'static ValueOps = &ValueOps {
        publish: Self::publish,
        discard: Self::discard,
        is_word: Self::IN_PLACE && size_of::<T>() == 8 && align_of::<T>() == 8,
    };
    /// Whether values are stored inline. Values that are boxed in their variable are boxed here, too.
    const IN_PLACE: bool =
        !is_boxed::<T>() && size_of::<T>() <= size_of::<Bytes>() && align_of::<T>() <= 8;

    #[inline(always)]
    fn keep(value: T) -> Bytes {
        let mut bytes = [MaybeUninit::uninit(); WORDS];
        // SAFETY: There is room for the value, or for the pointer.
        unsafe {
            if Self::IN_PLACE {
                ptr::write(bytes.as_mut_ptr().cast::<T>(), value);
            } else {
                ptr::write(
                    bytes.as_mut_ptr().cast::<*mut T>(),
                    Box::into_raw(Box::new(value)),
                );
            }
        }
        bytes
    }

    /// # Safety
    ///
    /// The bytes are from `keep`.
    #[inline(always)]
    unsafe fn pointer(bytes: *const Bytes) -> *mut T {
        if Self::IN_PLACE {
            bytes.cast::<T>().cast_mut()
        } else {
            // SAFETY: The bytes are from `keep`, which stored a pointer.
            unsafe { ptr::read(bytes.cast::<*mut T>()) }
        }
    }

    /// # Safety
    ///
    /// The bytes are from `keep` and not used afterwards, and the core is that of a `Cell<T>` and locked.
    unsafe fn publish(core: *const VarCore, bytes: &mut Bytes, guard: &Guard) {
        // SAFETY: The caller guarantees that the bytes are from `keep` and that the core is locked. A plain value that
        // did not fit inline is copied out of its box, which is freed.
        unsafe {
            let value = Self::pointer(bytes);
            (*core.cast::<Cell<T>>()).replace(value, guard);
            if !is_boxed::<T>() && !Self::IN_PLACE {
                drop(Box::from_raw(value.cast::<MaybeUninit<T>>()));
            }
        }
    }

    /// # Safety
    ///
    /// The bytes are from `keep` and not used afterwards.
    unsafe fn discard(bytes: &mut Bytes) {
        if !Self::IN_PLACE {
            // SAFETY: The bytes are from `keep`, which stored a pointer from a box, and are not used afterwards.
            drop(unsafe { Box::from_raw(Self::pointer(bytes)) });
        }
    }
}

/// The writes of a transaction, the latest last.
///
/// # Invariants
///
/// 1. From `level` on, no variable occurs twice; before it, a variable occurs at most once per enclosing level.
/// 2. `filter` has a bit for each variable in the list, and `table`, if there are many, an entry for its latest write.
#[derive(Default)]
pub(super) struct Writes {
    list: Vec<Write>,
    /// Index where the innermost alternative begins.
    level: usize,
    filter: u64,
    /// Indices into the list plus one; 0 is empty. The length is a power of two.
    table: Vec<u32>,
}

/// The beginning of an enclosing level.
#[derive(Clone, Copy)]
pub(super) struct Level(usize);

#[inline(always)]
fn hash(core: *const VarCore) -> usize {
    (core.addr() >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize)
}

#[inline(always)]
fn bit(hash: usize) -> u64 {
    1 << (hash >> (usize::BITS - 6))
}

impl Writes {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the index of the latest write to this variable.
    #[inline(always)]
    fn find(&self, core: *const VarCore) -> Option<usize> {
        if self.filter & bit(hash(core)) == 0 {
            return None;
        }
        self.find_among(core)
    }

    fn find_among(&self, core: *const VarCore) -> Option<usize> {
        if self.list.len() <= MANY {
            return self.list.iter().rposition(|write| write.core == core);
        }
        let mask = self.table.len() - 1;
        let mut place = hash(core) & mask;
        loop {
            let index = (self.table[place] as usize).checked_sub(1)?;
            if self.list[index].core == core {
                return Some(index);
            }
            place = (place + 1) & mask;
        }
    }

    /// Returns the written variables, some possibly twice.
    pub(super) fn cores(&self) -> impl Iterator<Item = *const VarCore> {
        self.list.iter().map(|write| write.core)
    }

    /// Whether this variable is written.
    pub(super) fn has(&self, core: *const VarCore) -> bool {
        self.find(core).is_some()
    }

    /// Returns the value that this transaction has written to the variable.
    #[inline(always)]
    pub(super) fn get<T: Send + 'static>(&self, cell: &Cell<T>) -> Option<&T> {
        let index = self.find(cell.erased())?;
        // SAFETY: A write to a cell of this type holds a value of this type.
        Some(unsafe { &*Stored::<T>::pointer(&self.list[index].bytes) })
    }

    /// Writes to the variable.
    #[inline(always)]
    pub(super) fn set<T: Send + 'static>(&mut self, cell: &Cell<T>, value: T) {
        let core = cell.erased();
        match self.find(core) {
            Some(index) if index >= self.level => {
                let write = &mut self.list[index];
                let mut old = std::mem::replace(&mut write.bytes, Stored::keep(value));
                // SAFETY: `old` was made by `Stored::<T>::keep`: a variable has one type. It has been replaced in the list, so
                // that nothing else drops it.
                unsafe { Stored::<T>::discard(&mut old) };
            }
            _ => {
                self.list.push(Write {
                    core,
                    before: 0,
                    bytes: Stored::keep(value),
                    ops: Stored::<T>::OPS,
                });
                self.filter |= bit(hash(core));
                if self.list.len() > MANY {
                    self.index_last();
                }
            }
        }
    }

    #[cold]
    fn index_last(&mut self) {
        if self.list.len() == MANY + 1 || self.list.len() * 2 > self.table.len() {
            self.index_all();
        } else {
            self.index(self.list.len() - 1);
        }
    }

    fn index_all(&mut self) {
        self.filter = 0;
        for write in &self.list {
            self.filter |= bit(hash(write.core));
        }
        self.table.clear();
        if self.list.len() > MANY {
            self.table
                .resize((self.list.len() * 4).next_power_of_two(), 0);
            (0..self.list.len()).for_each(|index| self.index(index));
        }
    }

    fn index(&mut self, index: usize) {
        let core = self.list[index].core;
        let mask = self.table.len() - 1;
        let mut place = hash(core) & mask;
        while let Some(other) = (self.table[place] as usize).checked_sub(1) {
            if self.list[other].core == core {
                break;
            }
            place = (place + 1) & mask;
        }
        self.table[place] = u32::try_from(index + 1).expect("a transaction writes less");
    }

    /// Begins an alternative.
    pub(super) fn enter(&mut self) -> Level {
        std::mem::replace(&mut self.level, self.list.len()).into()
    }

    /// Rolls back the alternative and its writes.
    pub(super) fn give_up(&mut self, outer: Level) {
        self.discard_from(self.level);
        self.level = outer.0;
        self.index_all();
    }

    /// Merges the alternative into the level around it.
    pub(super) fn join(&mut self, outer: Level) {
        let begin = std::mem::replace(&mut self.level, outer.0);
        let mut kept = begin;
        for index in begin..self.list.len() {
            let core = self.list[index].core;
            let earlier = self.list[outer.0..begin]
                .iter()
                .position(|write| write.core == core);
            match earlier {
                Some(earlier) => {
                    let (before, after) = self.list.split_at_mut(begin);
                    let (old, new) = (&mut before[outer.0 + earlier], &mut after[index - begin]);
                    std::mem::swap(&mut old.bytes, &mut new.bytes);
                }
                None => {
                    self.list.swap(kept, index);
                    kept += 1;
                }
            }
        }
        self.discard_from(kept);
        self.index_all();
    }

    /// Locks all variables; locks none if another transaction holds one of them for too long.
    #[inline(always)]
    pub(super) fn lock(&mut self) -> bool {
        for (locked, write) in self.list.iter_mut().enumerate() {
            // SAFETY: `set` took the address from a live cell. If its last handle is gone since, `Cell::release` defers
            // freeing it until this transaction is unpinned.
            let core = unsafe { &*write.core };
            write.before = match core.lock() {
                Some(before) => before,
                None => match lock_later(core, locked > 0) {
                    Some(before) => before,
                    None => {
                        self.unlock_first(locked);
                        return false;
                    }
                },
            };
        }
        true
    }

    /// Unlocks all variables, with their words unchanged.
    pub(super) fn unlock(&mut self) {
        self.unlock_first(self.list.len());
    }

    #[cold]
    fn unlock_first(&mut self, count: usize) {
        for write in &self.list[..count] {
            // SAFETY: `lock` has just accessed the same cells, under the same pin.
            unsafe { &*write.core }.unlock(write.before);
        }
    }

    /// Returns the word of this variable before it was locked, if this transaction writes it.
    pub(super) fn before(&self, core: *const VarCore) -> Option<u64> {
        self.find(core).map(|index| self.list[index].before)
    }

    /// Writes all values and unlocks the variables. Adds the addresses of variables that have waiters to `awaited`.
    #[inline(always)]
    pub(super) fn publish(&mut self, time: u64, guard: &Guard, awaited: &mut Vec<usize>) {
        // Emptied first, so that no value is used twice if anything panics.
        let length = self.list.len();
        // SAFETY: A `Write` needs no drop, and the elements up to `length` are initialized.
        unsafe { self.list.set_len(0) };
        for write in &mut self.list.spare_capacity_mut()[..length] {
            // SAFETY: The element is initialized, see above; its value is of the cell's type, and the cell is locked.
            unsafe {
                let write = write.assume_init_mut();
                if write.ops.is_word {
                    // The type does not matter: all cells of one word have the same layout.
                    let cell = write.core.cast::<Cell<MaybeUninit<u64>>>();
                    (*cell).replace(write.bytes.as_mut_ptr(), guard);
                } else {
                    (write.ops.publish)(write.core, &mut write.bytes, guard);
                }
                (*write.core).publish(time);
                if write.before & WAITERS != 0 {
                    cold_path();
                    awaited.push(write.core.addr());
                }
            }
        }
        self.filter = 0;
        self.level = 0;
    }

    /// Discards all writes.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if !self.list.is_empty() {
            self.discard_from(0);
        }
        self.filter = 0;
        self.level = 0;
    }

    fn discard_from(&mut self, begin: usize) {
        while self.list.len() > begin
            && let Some(mut write) = self.list.pop()
        {
            // SAFETY: `ops` is that of the type whose `keep` made the bytes, and `pop` has moved the write out of the list.
            unsafe { (write.ops.discard)(&mut write.bytes) };
        }
    }
}

/// Waits for the transaction that holds the lock, which does not take long, unless it waits for a lock of the caller.
#[cold]
fn lock_later(core: &VarCore, has_others: bool) -> Option<u64> {
    let mut backoff = if has_others {
        Backoff::short()
    } else {
        Backoff::long()
    };
    while backoff.wait() {
        if let Some(before) = core.lock() {
            return Some(before);
        }
    }
    None
}

impl From<usize> for Level {
    fn from(level: usize) -> Level {
        Level(level)
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        self.clear();
    }
}
