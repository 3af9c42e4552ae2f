//! A program whose allocator looks at a clock with its lock held, as jemalloc and others do: for the tests.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use reenact::{
    sync::{Arc, Mutex},
    thread,
};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;
static LOCKED: AtomicBool = AtomicBool::new(false);

impl Allocator {
    /// Looks at a clock with the lock held. Who allocates meanwhile on the same thread waits for good. Inlined, so that
    /// the call is wherever something is allocated.
    #[inline(always)]
    fn look_at_the_clock() {
        while LOCKED.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC_COARSE] {
            // SAFETY: A place for the time.
            assert_eq!(unsafe { libc::clock_gettime(clock, &mut now) }, 0);
        }
        LOCKED.store(false, Ordering::Release);
    }
}

// SAFETY: The system's allocator does it.
unsafe impl GlobalAlloc for Allocator {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Allocator::look_at_the_clock();
        // SAFETY: The caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn main() {
    // Inlined into `main`, as the compiler may do with any other allocation here.
    let layout = Layout::new::<u64>();
    // SAFETY: The layout has a size, and the memory is not used.
    unsafe {
        let pointer = ALLOCATOR.alloc(layout);
        ALLOCATOR.dealloc(pointer, layout);
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let seen = Arc::clone(&seen);
            thread::spawn(move || {
                for round in 0..50 {
                    let map: HashMap<_, _> = (0..round).map(|key| (key, thread)).collect();
                    let now = Instant::now();
                    seen.lock().unwrap().push((thread, now, map));
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let strangers: Vec<_> = (0..3)
        .map(|_| std::thread::spawn(|| format!("{:?}", Instant::now())))
        .collect();
    for stranger in strangers {
        stranger.join().unwrap();
    }
    println!("{:?}", seen.lock().unwrap());
}
