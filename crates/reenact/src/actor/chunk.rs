//! Chunks of memory for messages, and a cache of them for each thread.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::RefCell,
    mem::size_of,
    ptr,
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
};

use crate::loom::{AtomicPtr, AtomicU32, thread_local};

/// The header of a chunk, which is followed by its words.
#[repr(C)]
pub(super) struct Chunk {
    next: AtomicPtr<Chunk>,
    /// Number of words that hold messages. Written under the mailbox's lock, read by its consumer.
    end: AtomicU32,
    capacity: u32,
}

const HEADER: usize = size_of::<Chunk>();
/// Words in the first chunk of a mailbox. Most mailboxes have few messages, and there may be many mailboxes.
const SMALL: usize = (128 - HEADER) / 8;
/// The next chunk is larger by this factor, up to `LARGE` words.
const GROWTH: usize = 4;
const LARGE: usize = ((64 << 10) - HEADER) / 8;

/// Maximum number of small chunks that a thread keeps.
const KEPT: usize = 4096;

thread_local! {
    static STORE: RefCell<Store> = const { RefCell::new(Store(Vec::new())) };
}

struct Store(Vec<*mut Chunk>);

impl Drop for Store {
    fn drop(&mut self) {
        for chunk in self.0.drain(..) {
            // SAFETY: `give_back` put it here, whose caller owned it; `take` would have removed it.
            unsafe { Chunk::free(chunk) };
        }
    }
}

impl Chunk {
    /// Returns a chunk with room for at least `words` words, to follow `before`.
    pub(super) fn take(words: usize, before: Option<&Chunk>) -> *mut Chunk {
        let size = match before {
            None => SMALL,
            Some(before) => (GROWTH * before.capacity as usize).min(LARGE),
        };
        if size == SMALL && words <= SMALL {
            let kept = STORE.try_with(|store| store.try_borrow_mut().ok()?.0.pop());
            if let Ok(Some(chunk)) = kept {
                return chunk;
            }
        }
        Chunk::allocate(size.max(words))
    }

    /// Returns an unused chunk to the thread's store, or frees it.
    ///
    /// # Safety
    ///
    /// It came from [`Chunk::take`], and its messages have been moved out.
    pub(super) unsafe fn give_back(chunk: *mut Chunk) {
        // SAFETY: The chunk came from `take`, so its header is initialized. The caller does not use it afterwards, so the
        // store may own it, or it may be freed.
        unsafe {
            if (*chunk).capacity as usize == SMALL {
                (*chunk).next.store(ptr::null_mut(), Relaxed);
                (*chunk).end.store(0, Relaxed);
                let kept = STORE.try_with(|store| match store.try_borrow_mut() {
                    Ok(mut store) if store.0.len() < KEPT => {
                        store.0.push(chunk);
                        true
                    }
                    _ => false,
                });
                if matches!(kept, Ok(true)) {
                    return;
                }
            }
            Chunk::free(chunk);
        }
    }

    fn layout(words: usize) -> Layout {
        Layout::from_size_align(HEADER + words * 8, 8).expect("a size that fits in memory")
    }

    fn allocate(words: usize) -> *mut Chunk {
        let capacity = u32::try_from(words).expect("a message that fits in a chunk");
        let layout = Chunk::layout(words);
        // SAFETY: The layout is that of a header and its words, so it is not empty and the header fits into it.
        unsafe {
            let chunk = alloc(layout).cast::<Chunk>();
            if chunk.is_null() {
                handle_alloc_error(layout);
            }
            chunk.write(Chunk {
                next: AtomicPtr::new(ptr::null_mut()),
                end: AtomicU32::new(0),
                capacity,
            });
            chunk
        }
    }

    unsafe fn free(chunk: *mut Chunk) {
        // SAFETY: `allocate` used the layout of this capacity, which never changes, and the chunk is freed only once: its
        // owner gives it up.
        unsafe { dealloc(chunk.cast(), Chunk::layout((*chunk).capacity as usize)) };
    }

    /// Returns the end as its writers have published it. Acquire: pairs with the Release in `publish`.
    #[inline(always)]
    pub(super) fn end(&self) -> u32 {
        self.end.load(Acquire)
    }

    #[inline(always)]
    pub(super) fn next(&self) -> *mut Chunk {
        self.next.load(Acquire)
    }

    pub(super) fn set_next(&self, next: *mut Chunk) {
        self.next.store(next, Release);
    }

    /// Returns a pointer to a word.
    ///
    /// # Safety
    ///
    /// The word is within the chunk.
    #[inline(always)]
    pub(super) unsafe fn word(chunk: *mut Chunk, word: u32) -> *mut u64 {
        // SAFETY: `allocate` made room for the header and `capacity` words behind it, of which this is one.
        unsafe { chunk.add(1).cast::<u64>().add(word as usize) }
    }

    /// Whether there is room for this many more words. The caller holds the mailbox's lock.
    #[inline(always)]
    pub(super) fn has_room(&self, words: usize) -> bool {
        words <= (self.capacity - self.end.load(Relaxed)) as usize
    }

    /// Publishes that this many more words hold messages. Release: pairs with the Acquire in `end`.
    #[inline(always)]
    pub(super) fn publish(&self, words: usize) {
        let end = self.end.load(Relaxed);
        self.end.store(end + words as u32, Release);
    }
}
