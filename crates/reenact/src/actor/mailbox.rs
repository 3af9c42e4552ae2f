//! The mailbox: a log of messages that senders append to and one consumer reads in place.
//!
//! A message is a record in a chunk of memory: a header word (the code that handles it, and its sender) followed by the
//! captures of that code. So a message costs no allocation, and a burst of messages is read like an array. Appending
//! takes one locked instruction, which both locks the log and marks its actor as scheduled. The consumer reads without
//! any, up to the end that senders publish; it locks only when it has read everything, to see whether it may rest. Then
//! the chunk goes back to its thread's store of chunks: an idle actor has none.
//!
//! Messages are Rust values, so copying their bytes moves them. A replay does that with messages that arrive too early.

use std::{
    cell::UnsafeCell,
    mem::{align_of, size_of},
    ptr,
    sync::atomic::{
        AtomicU32, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

use super::chunk::Chunk;

/// The function that runs a message: called with the captures and the actor's context; returns how many words the
/// captures take. See [`DROP`] and [`MEASURE`] for its two other uses.
pub(super) type Handler = unsafe fn(*mut u64, *mut ()) -> usize;

/// In place of a context: drops the message instead of running it.
pub(super) const DROP: *mut () = ptr::null_mut();
/// In place of a context: leaves the message alone, and only returns its length.
pub(super) const MEASURE: *mut () = ptr::dangling_mut::<u8>().cast();

/// The mailbox.
///
/// # State
///
/// | bit | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `SCHEDULED` | the actor is queued or runs | a sender that appends | the consumer, when it has read everything |
/// | `LOCKED` | a sender appends, or the consumer checks whether there is more | both | the same |
///
/// # Invariants
///
/// 1. `tail`, `flags` and what they point to are accessed only under the lock; `head` and `at` only by the consumer, or
///    under the lock if the actor is not scheduled and so has no consumer.
/// 2. `head` and `tail` are null when the actor is idle.
/// 3. The count of far references goes to zero, and up from there, only under the lock. So `ABANDONED` agrees with the
///    count, and the thread that takes it to zero does not touch the mailbox after unlocking it.
pub(super) struct Mailbox {
    state: AtomicU32,
    flags: UnsafeCell<u32>,
    tail: UnsafeCell<*mut Chunk>,
    head: UnsafeCell<*mut Chunk>,
    /// Index in `head` where the next message begins.
    at: UnsafeCell<u32>,
}

const SCHEDULED: u32 = 1;
const LOCKED: u32 = 2;

/// In `flags`: there are no far references.
const ABANDONED: u32 = 1;
/// In `flags`: the actor has stopped.
const CLOSED: u32 = 2;

/// The result of appending a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Appended {
    /// The actor was idle: the caller has to schedule it.
    First,
    /// The actor is scheduled, and will handle it.
    Behind,
    /// The actor has stopped; nothing was appended.
    Closed,
}

/// What the consumer finds when it has read everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// More messages have arrived.
    More,
    /// The actor is idle now. It may be scheduled again at once, on another thread.
    Idle,
    /// No sender is left.
    Abandoned,
}

/// A message in the log.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) header: u64,
    pub(super) captures: *mut u64,
}

// SAFETY: Senders access shared fields under the lock, see invariant 1. The messages in the chunks are `Send`.
unsafe impl Sync for Mailbox {}
// SAFETY: The mailbox owns its chunks, and the messages in them are `Send`.
unsafe impl Send for Mailbox {}

impl Mailbox {
    pub(super) const fn new() -> Mailbox {
        Mailbox {
            state: AtomicU32::new(0),
            flags: UnsafeCell::new(0),
            tail: UnsafeCell::new(ptr::null_mut()),
            head: UnsafeCell::new(ptr::null_mut()),
            at: UnsafeCell::new(0),
        }
    }

    /// Locks the log and marks the actor as scheduled. Returns the previous state. Acquire: pairs with the Release of
    /// `unlock`.
    #[inline(always)]
    fn lock(&self) -> u32 {
        let before = self.state.swap(SCHEDULED | LOCKED, Acquire);
        if before & LOCKED == 0 {
            before
        } else {
            self.lock_contended()
        }
    }

    #[cold]
    fn lock_contended(&self) -> u32 {
        let mut spins = 0u32;
        loop {
            while self.state.load(Relaxed) & LOCKED != 0 {
                spins += 1;
                if spins < 200 {
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
            let before = self.state.swap(SCHEDULED | LOCKED, Acquire);
            if before & LOCKED == 0 {
                return before;
            }
        }
    }

    #[inline(always)]
    fn unlock(&self, state: u32) {
        self.state.store(state, Release);
    }

    /// Appends a message: its header and its captures. `captures` must not need more than a word's alignment; if the
    /// actor has stopped, they are not moved, and the caller still owns them.
    ///
    /// # Safety
    ///
    /// The header names a [`Handler`] for captures of this type.
    #[inline(always)]
    pub(super) unsafe fn append<C>(
        &self,
        header: impl FnOnce() -> u64,
        captures: &std::mem::ManuallyDrop<C>,
    ) -> Appended {
        debug_assert!(align_of::<C>() <= align_of::<u64>());
        let words = 1 + words_of::<C>();
        let before = self.lock();
        // SAFETY: The lock is held. The chunk has room for this many words, and nobody reads past its end.
        unsafe {
            if *self.flags.get() & CLOSED != 0 {
                // The message counts as sent nevertheless.
                header();
                self.unlock(before);
                return Appended::Closed;
            }
            let tail = *self.tail.get();
            let record = if !tail.is_null() && (*tail).has_room(words) {
                Chunk::word(tail, (*tail).end())
            } else {
                self.next_chunk(words)
            };
            record.write(header());
            if size_of::<C>() > 0 {
                ptr::copy_nonoverlapping(
                    ptr::from_ref(captures).cast::<C>(),
                    record.add(1).cast::<C>(),
                    1,
                );
            }
            (**self.tail.get()).publish(words);
        }
        self.unlock(SCHEDULED);
        if before & SCHEDULED == 0 {
            Appended::First
        } else {
            Appended::Behind
        }
    }

    /// Appends a chunk with room for this many words, and returns a pointer to them.
    ///
    /// # Safety
    ///
    /// The caller holds the lock.
    #[cold]
    #[inline(never)]
    unsafe fn next_chunk(&self, words: usize) -> *mut u64 {
        // SAFETY: The lock is held; if the actor is idle, nobody else uses `head`.
        unsafe {
            let tail = *self.tail.get();
            let chunk = Chunk::take(words, tail.as_ref());
            *self.tail.get() = chunk;
            match tail.as_ref() {
                Some(tail) => tail.set_next(chunk),
                None => {
                    *self.head.get() = chunk;
                    *self.at.get() = 0;
                }
            }
            Chunk::word(chunk, 0)
        }
    }

    /// Returns the next message, if there is one. It stays in place until [`Mailbox::advance`].
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    #[inline(always)]
    pub(super) unsafe fn peek(&self) -> Option<Message> {
        // SAFETY: These are the consumer's own fields, and a chunk that it has not given back.
        unsafe {
            loop {
                let head = *self.head.get();
                if head.is_null() {
                    // The actor was scheduled not for a message but to end.
                    return None;
                }
                let at = *self.at.get();
                if at < (*head).end() {
                    let record = Chunk::word(head, at);
                    return Some(Message {
                        header: record.read(),
                        captures: record.add(1),
                    });
                }
                let next = (*head).next();
                if next.is_null() {
                    return None;
                }
                // Nothing more is appended to a chunk that has a successor.
                if at == (*head).end() {
                    Chunk::give_back(head);
                    *self.head.get() = next;
                    *self.at.get() = 0;
                }
            }
        }
    }

    /// Advances past a message whose captures take this many words.
    ///
    /// # Safety
    ///
    /// Only for the consumer, after [`Mailbox::peek`].
    #[inline(always)]
    pub(super) unsafe fn advance(&self, words: usize) {
        // SAFETY: This is the consumer's own field.
        unsafe { *self.at.get() += 1 + words as u32 };
    }

    /// Checks under the lock whether there is nothing to read, and makes the actor idle then.
    ///
    /// # Safety
    ///
    /// Only for the consumer, which ceases to be one if this returns [`Rest::Idle`].
    #[inline]
    pub(super) unsafe fn rest(&self) -> Rest {
        self.lock();
        // SAFETY: The lock is held, and the caller is the consumer.
        unsafe {
            let head = *self.head.get();
            if !head.is_null() && (*self.at.get() < (*head).end() || !(*head).next().is_null()) {
                self.unlock(SCHEDULED);
                return Rest::More;
            }
            if *self.flags.get() & ABANDONED != 0 {
                self.unlock(SCHEDULED);
                return Rest::Abandoned;
            }
            *self.head.get() = ptr::null_mut();
            *self.tail.get() = ptr::null_mut();
            self.unlock(0);
            if !head.is_null() {
                Chunk::give_back(head);
            }
        }
        Rest::Idle
    }

    /// Drops what may be the last far reference. Returns true if it was and the actor was idle: the caller has to
    /// schedule it.
    pub(super) fn give_up(&self, references: &AtomicUsize) -> bool {
        let before = self.lock();
        // Acquire and Release: the actor is destroyed after everything that other threads did with it.
        let abandoned = references.fetch_sub(1, AcqRel) == 1;
        if abandoned {
            // SAFETY: The lock is held.
            unsafe { *self.flags.get() |= ABANDONED };
        }
        let wakes = abandoned && before & SCHEDULED == 0;
        self.unlock(if wakes { SCHEDULED } else { before });
        wakes
    }

    /// Adds a far reference where there may be none. Only for the consumer.
    pub(super) fn revive(&self, references: &AtomicUsize) {
        self.lock();
        references.fetch_add(1, Relaxed);
        // SAFETY: The lock is held.
        unsafe { *self.flags.get() &= !ABANDONED };
        self.unlock(SCHEDULED);
    }

    /// Closes the mailbox of a stopped actor: nothing is appended from now on.
    pub(super) fn close(&self) {
        let before = self.lock();
        // SAFETY: The lock is held.
        unsafe { *self.flags.get() |= CLOSED };
        self.unlock(before);
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let mut chunk = *self.head.get_mut();
        while !chunk.is_null() {
            // SAFETY: Nobody else uses the mailbox, and its messages have been dropped.
            unsafe {
                let next = (*chunk).next();
                Chunk::give_back(chunk);
                chunk = next;
            }
        }
    }
}

/// Returns how many words a value takes.
pub(super) const fn words_of<C>() -> usize {
    size_of::<C>().div_ceil(size_of::<u64>())
}
