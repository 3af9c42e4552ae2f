//! Identifies callers: an allocator must not be captured.
//!
//! Some allocators read a clock in the middle of an allocation, with their locks held. Recording that may allocate, and
//! the program would deadlock with itself. Nor is it part of the program. A caller is known by its return address:
//! whatever reads a clock before `main`, until this module has allocated something, is the allocator.
//!
//! The code of an allocator may also be inlined into the program, so that it calls from anywhere. If the allocator reads
//! clocks, other code that does so itself cannot be told from it, and only what the standard library reads is captured.
//!
//! A new thread's first allocation is the other such moment. So a thread without an activity gets one only by calls
//! from the standard library, which are never an allocator's.

use std::{
    sync::atomic::{
        AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Instant, SystemTime},
};

use crate::activity::HOT;

/// A set of return addresses.
struct Places {
    places: [AtomicUsize; 8],
    count: AtomicUsize,
}

impl Places {
    const fn new() -> Places {
        Places {
            places: [const { AtomicUsize::new(0) }; 8],
            count: AtomicUsize::new(0),
        }
    }

    #[inline(always)]
    fn has(&self, place: usize) -> bool {
        let count = self.count.load(Relaxed);
        count != 0 && self.contains(count, place)
    }

    #[cold]
    fn contains(&self, count: usize, place: usize) -> bool {
        self.places[..count]
            .iter()
            .any(|known| known.load(Relaxed) == place)
    }

    /// Called only before `main`, by the main thread.
    fn add(&self, place: usize) {
        let count = self.count.load(Acquire);
        if !self.contains(count, place)
            && let Some(next) = self.places.get(count)
        {
            next.store(place, Relaxed);
            self.count.store(count + 1, Release);
        }
    }
}

/// Return addresses in the allocator.
static ALLOCATOR: Places = Places::new();
/// Return addresses in the standard library.
static STANDARD: Places = Places::new();
/// Which of the two is being learnt; [`NOTHING`] once `main` has begun. Initially the allocator's, because an allocator
/// may be initialised before `learn` is called.
static LEARNING: AtomicUsize = AtomicUsize::new(OF_ALLOCATOR);

const NOTHING: usize = 0;
const OF_ALLOCATOR: usize = 1;
const OF_STANDARD: usize = 2;

/// Learns the callers. Called before `main`.
pub(super) fn learn() {
    LEARNING.store(OF_STANDARD, Relaxed);
    std::hint::black_box((Instant::now(), SystemTime::now()));
    LEARNING.store(OF_ALLOCATOR, Relaxed);
    allocate();
    LEARNING.store(NOTHING, Relaxed);
}

/// Makes the allocator do all that it does. An allocator may treat sizes differently.
fn allocate() {
    for size in (0..=20).map(|bits| 1usize << bits) {
        let mut bytes = Vec::<u8>::with_capacity(size);
        bytes.resize(size, 1);
        bytes.reserve_exact(size);
        bytes.shrink_to(size);
        std::hint::black_box((bytes, vec![0u8; size], Box::new(size)));
    }
}

/// Learns a caller, if learning is on.
#[cold]
pub(super) fn note(place: usize) {
    match LEARNING.load(Relaxed) {
        OF_STANDARD => STANDARD.add(place),
        OF_ALLOCATOR => ALLOCATOR.add(place),
        _ => {}
    }
}

/// Returns whether a call from there is an allocator's, or may be.
#[inline(always)]
pub(super) fn is_allocator(place: usize) -> bool {
    ALLOCATOR.count.load(Relaxed) != 0 && may_be_allocator(place)
}

#[cold]
fn may_be_allocator(place: usize) -> bool {
    ALLOCATOR.has(place) || !STANDARD.has(place)
}

/// Returns whether a call from there may register the calling thread, if it has no activity yet.
pub(super) fn may_introduce(place: usize) -> bool {
    STANDARD.has(place) || HOT.with(|hot| hot.token.get()) != crate::activity::NOBODY || is_main()
}

fn is_main() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}
