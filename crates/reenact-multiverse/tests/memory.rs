//! A bound on memory is about the memory that is really allocated. What counts it counts for the whole process, which is
//! why there is one test here.

#[path = "search/counters.rs"]
mod counters;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use reenact_multiverse::{Bound, Bounds, Keep, Order, Reduction, Search};

use counters::Counters;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(now, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
        NOW.fetch_sub(layout.size(), Relaxed);
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new may be there at the same time.
        count(size);
        // SAFETY: as the caller promises.
        let new = unsafe { System.realloc(at, layout, size) };
        NOW.fetch_sub(layout.size(), Relaxed);
        new
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a search allocates at most, beyond what there was.
fn most_during(search: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    search();
    MOST.load(Relaxed) - before
}

fn check(bound: usize, order: Order, reduction: Reduction, keep: Keep, workers: usize) {
    // Ten million states.
    let counters = Counters::new(7, 9);
    let bounds = Bounds {
        bytes: Some(bound),
        ..Bounds::default()
    };
    let most = most_during(|| {
        let search = Search::of(&counters).order(order).reduction(reduction);
        let graph = search.keep(keep).workers(workers).bounds(bounds).run();
        assert_eq!(graph.coverage().stopped_by(), [Bound::Bytes(bound)]);
        let said = graph.coverage().to_string();
        assert!(said.starts_with(&format!("stopped at {bound} bytes of memory; ")));
        assert!(graph.bytes() <= bound, "{} of {bound}", graph.bytes());
        assert!(graph.len() > bound / 400, "{} universes only", graph.len());
        let now = NOW.load(Relaxed);
        assert!(now > graph.bytes() / 2 && now < graph.bytes() + 100_000);
    });
    assert!(
        most <= bound,
        "{most} of {bound} bytes, {order:?} {reduction:?} {keep:?} {workers}"
    );
}

#[test]
fn a_bound_on_memory_bounds_what_is_really_allocated() {
    let megabyte = 1 << 20;
    check(
        64 * megabyte,
        Order::BreadthFirst,
        Reduction::None,
        Keep::Graph,
        2,
    );
    for bound in [100_000, 2 * megabyte] {
        for keep in [Keep::Graph, Keep::Tree] {
            for workers in [1, 2] {
                check(bound, Order::BreadthFirst, Reduction::None, keep, workers);
            }
            check(bound, Order::DepthFirst, Reduction::None, keep, 1);
            check(bound, Order::DepthFirst, Reduction::SleepSets, keep, 1);
            check(bound, Order::BreadthFirst, Reduction::SleepSets, keep, 1);
        }
    }
}
