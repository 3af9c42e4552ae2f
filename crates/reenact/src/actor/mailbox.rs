//! The mailbox: a log of messages that senders append to and one consumer reads in place.
//!
//! A message is a record in a chunk of memory: a header word (the code that handles it, and who sent it) and what
//! the code captured, right behind it. So a message costs no allocation, and a burst of them is read as one runs
//! through an array. Appending takes one locked instruction: it locks the log and schedules its actor in one.
//! The consumer reads without any, up to the end that senders publish; it locks only when it has read everything, to
//! see whether it may rest. Then the chunk goes back to its thread's store of chunks: an idle actor has none.
//!
//! Messages are Rust values, so they can be moved to another place by copying their bytes. A replay does that with
//! those that come too early.

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

/// What runs a message: called with the captures and with the actor's context; returns how many words the captures
/// take. See [`DROP`] and [`MEASURE`] for the two other things it does.
pub(super) type Handler = unsafe fn(*mut u64, *mut ()) -> usize;

/// In place of a context: the message is not run but dropped.
pub(super) const DROP: *mut () = ptr::null_mut();
/// In place of a context: the message is left alone, only its length is wanted.
pub(super) const MEASURE: *mut () = ptr::dangling_mut::<u8>().cast();

/// The mailbox.
///
/// # State
///
/// | bit | meaning | set by | cleared by |
/// |---|---|---|---|
/// | `SCHEDULED` | the actor is queued or runs | whoever appends | the consumer, when it has read everything |
/// | `LOCKED` | someone appends, or the consumer looks whether there is more | both | the same |
///
/// # Invariants
///
/// 1. `tail`, `flags` and what they point to are touched only under the lock; `head` and `at` only by the consumer, or
///    under the lock of an actor that is not scheduled, which has no consumer.
/// 2. `head` and `tail` are null when the actor is idle.
/// 3. The count of far references goes to zero, and up from there, only under the lock. So `ABANDONED` says what the
///    count says, and whoever takes it to zero does not touch the mailbox after unlocking it.
pub(super) struct Mailbox {
    state: AtomicU32,
    flags: UnsafeCell<u32>,
    tail: UnsafeCell<*mut Chunk>,
    head: UnsafeCell<*mut Chunk>,
    /// Where in `head` the next message begins.
    at: UnsafeCell<u32>,
}

const SCHEDULED: u32 = 1;
const LOCKED: u32 = 2;

/// In `flags`: there is no far reference any more.
const ABANDONED: u32 = 1;
/// In `flags`: the actor has stopped.
const CLOSED: u32 = 2;

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Appended {
    /// The actor was idle: the caller has to schedule it.
    First,
    /// The actor will come to it.
    Behind,
    /// The actor has stopped; nothing was appended.
    Closed,
}

/// What the consumer finds when it has read everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// More has come.
    More,
    /// The actor is idle now. It may be scheduled again at once, on another thread.
    Idle,
    /// There is nobody who could send anything any more.
    Abandoned,
}

/// A message as it lies in the log.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) header: u64,
    pub(super) captures: *mut u64,
}

// SAFETY: What senders share is under the lock, see invariant 1. What lies in the chunks is `Send`.
unsafe impl Sync for Mailbox {}
// SAFETY: As above.
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

    /// Locks the log, and says that the actor is scheduled; what the state was before. Acquire: pairs with the Release
    /// of `unlock`.
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

    /// Appends a message: its header, and what it captured. `captures` must not need more than a word's alignment; if
    /// the actor has stopped, it is forgotten, and given back to the caller by not having been moved.
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
        // SAFETY: Under the lock. The chunk has room for so many words, and nobody reads past its end.
        unsafe {
            if *self.flags.get() & CLOSED != 0 {
                // Sent it was all the same.
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

    /// Puts a chunk at the end that has room for so many words; where they go.
    ///
    /// # Safety
    ///
    /// Under the lock.
    #[cold]
    #[inline(never)]
    unsafe fn next_chunk(&self, words: usize) -> *mut u64 {
        // SAFETY: Under the lock; if the actor is idle, `head` is nobody's.
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

    /// The next message, if there is one. It stays where it is until [`Mailbox::advance`].
    ///
    /// # Safety
    ///
    /// For the consumer.
    #[inline(always)]
    pub(super) unsafe fn peek(&self) -> Option<Message> {
        // SAFETY: The consumer's own fields, and a chunk that it has not given back.
        unsafe {
            loop {
                let head = *self.head.get();
                if head.is_null() {
                    // Scheduled not for a message but to end.
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
                // Nothing more is appended to a chunk that has a next one.
                if at == (*head).end() {
                    Chunk::give_back(head);
                    *self.head.get() = next;
                    *self.at.get() = 0;
                }
            }
        }
    }

    /// Goes past a message whose captures take so many words.
    ///
    /// # Safety
    ///
    /// For the consumer, after [`Mailbox::peek`].
    #[inline(always)]
    pub(super) unsafe fn advance(&self, words: usize) {
        // SAFETY: The consumer's own field.
        unsafe { *self.at.get() += 1 + words as u32 };
    }

    /// Sees whether there is really nothing to read.
    ///
    /// # Safety
    ///
    /// For the consumer, which is none any more if it is told [`Rest::Idle`].
    #[inline]
    pub(super) unsafe fn rest(&self) -> Rest {
        self.lock();
        // SAFETY: Under the lock, and for the consumer.
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

    /// Gives up what may be the last far reference. True if it was, and the actor was idle: the caller has to schedule it.
    pub(super) fn give_up(&self, references: &AtomicUsize) -> bool {
        let before = self.lock();
        // Acquire and Release: whoever destroys the actor does so after everything that others did with it.
        let abandoned = references.fetch_sub(1, AcqRel) == 1;
        if abandoned {
            // SAFETY: Under the lock.
            unsafe { *self.flags.get() |= ABANDONED };
        }
        let wakes = abandoned && before & SCHEDULED == 0;
        self.unlock(if wakes { SCHEDULED } else { before });
        wakes
    }

    /// Makes a far reference where there may be none. For the consumer.
    pub(super) fn revive(&self, references: &AtomicUsize) {
        self.lock();
        references.fetch_add(1, Relaxed);
        // SAFETY: Under the lock.
        unsafe { *self.flags.get() &= !ABANDONED };
        self.unlock(SCHEDULED);
    }

    /// Says that the actor has stopped: nothing is appended from now on.
    pub(super) fn close(&self) {
        let before = self.lock();
        // SAFETY: Under the lock.
        unsafe { *self.flags.get() |= CLOSED };
        self.unlock(before);
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let mut chunk = *self.head.get_mut();
        while !chunk.is_null() {
            // SAFETY: Nobody else has the mailbox; whoever drops it has dropped the messages.
            unsafe {
                let next = (*chunk).next();
                Chunk::give_back(chunk);
                chunk = next;
            }
        }
    }
}

/// How many words a value takes.
pub(super) const fn words_of<C>() -> usize {
    size_of::<C>().div_ceil(size_of::<u64>())
}
