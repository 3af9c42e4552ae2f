//! Who asks: an allocator must not be captured.
//!
//! Some allocators look at a clock in the middle of an allocation, with their locks held. To record that may take an
//! allocation, and the program would wait for itself. It is no part of the program either. Who asks is known by where the
//! call comes from: what looks at a clock before `main`, up to when this module has allocated something, is the allocator.
//!
//! A new thread's first allocation is the other such moment. So a thread that is nobody yet becomes somebody only by calls
//! that come from the standard library, which no allocator makes.

use std::{
    sync::atomic::{
        AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::{Instant, SystemTime},
};

use crate::activity::HOT;

/// Places of calls, as many as are known.
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

    /// Only before `main`, by its thread.
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

/// Calls of the allocator.
static ALLOCATOR: Places = Places::new();
/// Calls of the standard library.
static STANDARD: Places = Places::new();
/// Which of the two is being learnt: [`NOTHING`] once `main` has begun. An allocator may be set up before we are asked.
static LEARNING: AtomicUsize = AtomicUsize::new(OF_ALLOCATOR);

const NOTHING: usize = 0;
const OF_ALLOCATOR: usize = 1;
const OF_STANDARD: usize = 2;

/// Learns who asks. Before `main`.
pub(super) fn learn() {
    LEARNING.store(OF_STANDARD, Relaxed);
    std::hint::black_box((Instant::now(), SystemTime::now()));
    LEARNING.store(OF_ALLOCATOR, Relaxed);
    std::hint::black_box((Box::new(0u64), Vec::<u8>::with_capacity(1 << 20)));
    LEARNING.store(NOTHING, Relaxed);
}

/// Somebody asks, who may be one of those to be known.
#[cold]
pub(super) fn note(place: usize) {
    match LEARNING.load(Relaxed) {
        OF_STANDARD => STANDARD.add(place),
        OF_ALLOCATOR => ALLOCATOR.add(place),
        _ => {}
    }
}

/// Whether a call from there is an allocator's.
#[inline(always)]
pub(super) fn is_allocator(place: usize) -> bool {
    ALLOCATOR.has(place)
}

/// Whether a call from there may make the calling thread somebody, if it is nobody yet.
pub(super) fn may_introduce(place: usize) -> bool {
    STANDARD.has(place) || HOT.with(|hot| hot.token.get()) != crate::activity::NOBODY || is_main()
}

fn is_main() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}
