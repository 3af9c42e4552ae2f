//! A program whose allocator uses atomics of Reenact: for the tests.

use std::alloc::{GlobalAlloc, Layout, System};

use reenact::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static HAS_FREED: AtomicBool = AtomicBool::new(false);

// SAFETY: The system's allocator does it.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = ALLOCATED.fetch_add(layout.size(), Ordering::SeqCst);
        PEAK.fetch_max(before + layout.size(), Ordering::SeqCst);
        // SAFETY: The caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::SeqCst);
        if !HAS_FREED.load(Ordering::SeqCst) {
            HAS_FREED.store(true, Ordering::SeqCst);
        }
        // SAFETY: The caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn main() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4)
        .map(|me| {
            let order = Arc::clone(&order);
            thread::spawn(move || {
                for round in 0..50 {
                    let text = format!("{me} in round {round}");
                    order.lock().unwrap().push(text);
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    println!("{:?}", order.lock().unwrap());
    assert!(ALLOCATED.load(Ordering::SeqCst) <= PEAK.load(Ordering::SeqCst));
    assert!(HAS_FREED.load(Ordering::SeqCst));
}
