//! How much memory a thread takes, so that tests can say that it is bounded.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system's allocator, which also counts per thread.
pub(crate) struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TOTAL: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that is so far gone that it has no locals is not one that is being measured.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
        let more = bytes.max(0) as usize;
        let _ = TOTAL.try_with(|total| total.set(total.get().wrapping_add(more)));
    });
}

// SAFETY: Everything is passed on to the system's allocator as it comes; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: The caller's promises are the ones that are needed.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: As above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: As above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may exist while one is copied to the other.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: As above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The bytes that this thread has, or more exactly those that it asked for and nobody gave back.
pub(crate) fn in_use() -> isize {
    NOW.get()
}

/// The most bytes that this thread had, at any time during `action`, beyond what it had before.
pub(crate) fn peak_of(action: impl FnOnce()) -> usize {
    let before = NOW.get();
    PEAK.set(before);
    action();
    usize::try_from(PEAK.get() - before).expect("a peak is not below where it began")
}

/// All the bytes that this thread asked for during `action`, a measure of the work that does not depend on the clock.
pub(crate) fn total_of(action: impl FnOnce()) -> usize {
    let before = TOTAL.get();
    action();
    TOTAL.get().wrapping_sub(before)
}
