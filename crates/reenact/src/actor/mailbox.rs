//! The mailbox: a log of messages that senders append to and one consumer reads in place.
//!
//! A message is a record in a chunk of memory: a header word (the code that handles it, and its sender) followed by the
//! captures of that code. So a message costs no allocation, and a burst of messages is read like an array. Appending
//! takes one locked instruction, which both locks the log and marks its actor as scheduled. The consumer reads without
//! any, up to the end that senders publish; it locks only when it has read everything, to see whether it may rest. Then
//! the chunk goes back to its thread's store of chunks: an idle actor has none.
//!
//! Messages are Rust values, so copying their bytes moves them. A replay does that with messages that arrive too early.

#[cfg(all(test, loom))]
mod model;

use std::{
    mem::{align_of, size_of},
    ptr,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::chunk::Chunk;
use crate::loom::{AtomicU32, AtomicUsize, Cell, yield_while};

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
    flags: Cell<u32>,
    tail: Cell<*mut Chunk>,
    head: Cell<*mut Chunk>,
    /// Index in `head` where the next message begins.
    at: Cell<u32>,
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

// SAFETY: Invariant 1 says who accesses the cells, and that no two threads do at the same time. Messages pass from the
// sender's thread to the consumer's, and `ActorCell` lets only `Send` ones in.
unsafe impl Sync for Mailbox {}
// SAFETY: No part of it depends on the thread: chunks may be given back to the store of any thread.
unsafe impl Send for Mailbox {}

impl Mailbox {
    pub(super) fn new() -> Mailbox {
        Mailbox {
            state: AtomicU32::new(0),
            flags: Cell::new(0),
            tail: Cell::new(ptr::null_mut()),
            head: Cell::new(ptr::null_mut()),
            at: Cell::new(0),
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
        loop {
            yield_while(|| self.state.load(Relaxed) & LOCKED != 0);
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
        if self.flags.get() & CLOSED != 0 {
            // The message counts as sent nevertheless.
            header();
            self.unlock(before);
            return Appended::Closed;
        }
        // SAFETY: The lock is held, so `tail` is the chunk that the consumer gives back last and does not give back now,
        // and its `end` stays. The words behind that belong to nobody else: the consumer stops at `end`.
        unsafe {
            let tail = self.tail.get();
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
            (*self.tail.get()).publish(words);
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
        // SAFETY: The caller holds the lock. A chunk is given back only after it has a successor, which is set here, or
        // when `tail` is null.
        let tail = unsafe { self.tail.get().as_ref() };
        let chunk = Chunk::take(words, tail);
        self.tail.set(chunk);
        match tail {
            Some(tail) => tail.set_next(chunk),
            None => {
                self.head.set(chunk);
                self.at.set(0);
            }
        }
        // SAFETY: The chunk has at least `words` words, and a message has at least one, its header.
        unsafe { Chunk::word(chunk, 0) }
    }

    /// Returns the next message, if there is one. It stays in place until [`Mailbox::advance`].
    ///
    /// # Safety
    ///
    /// Only for the consumer.
    #[inline(always)]
    pub(super) unsafe fn peek(&self) -> Option<Message> {
        // SAFETY: Only the consumer gives chunks back, and then changes `head`: so `head` is valid. What is before its
        // `end` has been written, see `Chunk::publish`.
        unsafe {
            loop {
                let head = self.head.get();
                if head.is_null() {
                    // The actor was scheduled not for a message but to end.
                    return None;
                }
                let at = self.at.get();
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
                    self.head.set(next);
                    self.at.set(0);
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
        self.at.set(self.at.get() + 1 + words as u32);
    }

    /// Checks under the lock whether there is nothing to read, and makes the actor idle then.
    ///
    /// # Safety
    ///
    /// Only for the consumer, which ceases to be one if this returns [`Rest::Idle`].
    #[inline]
    pub(super) unsafe fn rest(&self) -> Rest {
        self.lock();
        let head = self.head.get();
        // SAFETY: The caller is the consumer, which alone gives back the chunk at `head`.
        if let Some(head) = unsafe { head.as_ref() }
            && (self.at.get() < head.end() || !head.next().is_null())
        {
            self.unlock(SCHEDULED);
            return Rest::More;
        }
        if self.flags.get() & ABANDONED != 0 {
            self.unlock(SCHEDULED);
            return Rest::Abandoned;
        }
        self.head.set(ptr::null_mut());
        self.tail.set(ptr::null_mut());
        self.unlock(0);
        if !head.is_null() {
            // SAFETY: It was the only chunk, all of it has been read, and now the mailbox does not refer to it.
            unsafe { Chunk::give_back(head) };
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
            self.flags.set(self.flags.get() | ABANDONED);
        }
        let wakes = abandoned && before & SCHEDULED == 0;
        self.unlock(if wakes { SCHEDULED } else { before });
        wakes
    }

    /// Adds a far reference where there may be none. Only for the consumer.
    pub(super) fn revive(&self, references: &AtomicUsize) {
        self.lock();
        references.fetch_add(1, Relaxed);
        self.flags.set(self.flags.get() & !ABANDONED);
        self.unlock(SCHEDULED);
    }

    /// Closes the mailbox of a stopped actor: nothing is appended from now on.
    pub(super) fn close(&self) {
        let before = self.lock();
        self.flags.set(self.flags.get() | CLOSED);
        self.unlock(before);
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let mut chunk = self.head.get();
        while !chunk.is_null() {
            // SAFETY: The mailbox owns the chunks from `head` on, and gives back each only once: it follows their links,
            // which end. Whoever drops the mailbox has dropped its messages.
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
