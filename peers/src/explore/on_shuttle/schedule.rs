//! A scheduler of shuttle that outlives the run that it is used in, and knows when to end.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use shuttle::scheduler::{
    PctScheduler, RandomScheduler, Schedule as Steps, Scheduler, Task, TaskId, UrwRandomScheduler,
};

use super::Strategy;

/// How many constraints on the order PCT is to satisfy: at so many points less one a priority changes.
///
/// The executions until the bug in lost-update, philosophers-3, lost-update-deep and queue-order, medians of 300 seeds, are
/// 4, 38, 5 and 9 at depth 2, 3, 19, 8 and 9 at depth 3, 2, 9, 8 and 11 at depth 5, and 2, 5, 10 and 11 at depth 8, which is
/// almost a random walk.
const DEPTH: usize = 5;

/// The executions that a strategy proposes. Clones share one scheduler.
#[derive(Clone)]
pub(super) struct Schedule {
    scheduler: Rc<RefCell<Counting>>,
    bugs: Arc<AtomicU64>,
    until_bug: bool,
}

struct Counting {
    scheduler: Box<dyn Scheduler>,
    executions: u64,
}

impl Schedule {
    /// At most so many executions from this seed.
    pub(super) fn new(strategy: Strategy, seed: u64, executions: u64) -> Self {
        let at_most = usize::try_from(executions).expect("a round has fewer");
        let scheduler: Box<dyn Scheduler> = match strategy {
            Strategy::Random => Box::new(RandomScheduler::new_from_seed(seed, at_most)),
            Strategy::Pct => Box::new(PctScheduler::new_from_seed(seed, DEPTH, at_most)),
            Strategy::Urw => Box::new(UrwRandomScheduler::new_from_seed(seed, at_most)),
        };
        let executions = 0;
        Self {
            scheduler: Rc::new(RefCell::new(Counting {
                scheduler,
                executions,
            })),
            bugs: Arc::new(AtomicU64::new(0)),
            until_bug: false,
        }
    }

    /// The same, but none after an execution that had the bug.
    pub(super) fn until_bug(self) -> Self {
        Self {
            until_bug: true,
            ..self
        }
    }

    /// How many executions there have been.
    pub(super) fn executions(&self) -> u64 {
        self.scheduler.borrow().executions
    }

    /// How many of them had the bug: who executes is to count them.
    pub(super) fn bugs(&self) -> &Arc<AtomicU64> {
        &self.bugs
    }
}

impl Scheduler for Schedule {
    fn new_execution(&mut self) -> Option<Steps> {
        if self.until_bug && self.bugs.load(Relaxed) > 0 {
            return None;
        }
        let mut counting = self.scheduler.borrow_mut();
        let steps = counting.scheduler.new_execution()?;
        counting.executions += 1;
        Some(steps)
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let scheduler = &mut self.scheduler.borrow_mut().scheduler;
        scheduler.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.borrow_mut().scheduler.next_u64()
    }
}
