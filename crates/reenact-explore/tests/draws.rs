//! Executions are drawn without allocating, once the strategy has learned what it learns.

#[path = "it/strategies.rs"]
mod strategies;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use reenact_explore::{Activity, Links, Moment, Run, Runs, Sampler, Step, Verdict};

struct Counting;

thread_local! {
    /// By the thread, for those of others come whenever they like.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ACTIVITIES: usize = 4;

/// Activities that count down. The first one begins the others with its first step.
struct Countdown;

struct Counters {
    left: [u32; ACTIVITIES],
    has_begun: bool,
}

impl Runs for Countdown {
    type Event = ();
    type Run = Counters;

    fn start(&self) -> Counters {
        Counters {
            left: [10; ACTIVITIES],
            has_begun: false,
        }
    }

    fn dependent(&self, (): &(), (): &()) -> bool {
        true
    }
}

impl Run for Counters {
    type Event = ();

    fn activities(&self) -> u32 {
        if self.has_begun { ACTIVITIES as u32 } else { 1 }
    }

    fn pending(&self, activity: Activity) -> Option<()> {
        self.is_enabled(activity).then_some(())
    }

    fn is_enabled(&self, activity: Activity) -> bool {
        self.left[activity.0 as usize] > 0
    }

    fn step(&mut self, step: Step) {
        self.left[step.activity.0 as usize] -= 1;
        self.has_begun = true;
    }

    fn step_at(&mut self, step: Step, moment: Moment, links: &mut Links) {
        if let Some(before) = moment.0.checked_sub(1) {
            links.races(Moment(before));
        }
        self.step(step);
    }

    fn links(&self, _: Activity, _: &mut Links) {}

    fn verdict(&self) -> Verdict {
        Verdict::Finished
    }
}

#[test]
fn nothing_is_allocated_for_an_execution() {
    for strategy in strategies::ALL {
        let mut after_first = 0;
        let mut after_last = 0;
        Sampler::of(&Countdown).strategy(strategy).run(|execution| {
            let now = ALLOCATIONS.get();
            if execution.number == 100 {
                after_first = now;
            }
            after_last = now;
        });
        assert_eq!(after_first, after_last, "{strategy:?}");
    }
}
