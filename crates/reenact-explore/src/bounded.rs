//! Explores all executions with few preemptions, or with few delays.
//!
//! Most failures need few. A statement such as "all executions with at most two preemptions were run" is meaningful
//! even if the exploration never completes.
//!
//! The exploration goes level by level: first all executions without a preemption, then those with one, and so on. A
//! universe is continued once, on the lowest level on which it is reached, whichever schedule leads there: universes
//! are identified by their [fingerprints](super::Fingerprint). So a level repeats nothing of the levels below it. The
//! price is memory, for every universe and for everything deferred to a later level.

mod cost;
mod driver;

use std::{hash::Hash, ops::ControlFlow};

pub use self::cost::Bounding;

use self::driver::BoundedDriver;
use super::{Budget, GradualReport, Limit, Progress, Runs, Seen, budget_tracker::BudgetTracker};

/// A bounded exploration.
///
/// ```text
/// let report = Bounded::of(&program, Bounding::Preemptions)
///     .up_to(2)
///     .stop_at_failure()
///     .run(|execution, preemptions| println!("{preemptions}: {:?}", execution.schedule));
/// println!("{report}");
/// ```
pub struct Bounded<'a, R: Runs> {
    runs: &'a R,
    bounding: Bounding,
    most: u32,
    budget_tracker: BudgetTracker<'a>,
}

impl<'a, R: Runs> Bounded<'a, R>
where
    R::Event: Hash,
{
    /// Explores everything, executions with few preemptions or delays first.
    pub fn of(runs: &'a R, bounding: Bounding) -> Self {
        Bounded {
            runs,
            bounding,
            most: u32::MAX,
            budget_tracker: BudgetTracker::default(),
        }
    }

    /// Limits the number of preemptions or delays of an execution.
    pub fn up_to(mut self, most: u32) -> Self {
        self.most = most;
        self
    }

    /// Limits the exploration to this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget_tracker.budget = budget;
        self
    }

    /// Stops at the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.budget_tracker.stops_at_failure = true;
        self
    }

    /// Reports progress to `listener`, at the start and then at most once every 20 ms. Returning [`ControlFlow::Break`]
    /// cancels the exploration.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.budget_tracker.reporter.listener = Some(Box::new(listener));
        self
    }

    /// Explores, and passes one execution of each class to `visit`, with its number of preemptions or delays.
    ///
    /// # Panics
    ///
    /// Panics if the program behaves differently under the same schedule.
    pub fn run(mut self, mut visit: impl FnMut(&Seen<'_, R>, u32)) -> GradualReport {
        let steps = self.budget_tracker.budget.steps;
        let mut driver = BoundedDriver::new(self.runs, self.bounding, self.most, steps);
        let mut report = GradualReport::new(self.bounding.measure());
        while let Some(level) = driver.level() {
            if let Some(limit) = self
                .budget_tracker
                .limit(driver.done.started(), || driver.done)
            {
                report.coverage.stop(limit);
                break;
            }
            let verdict = driver.execute(|seen| visit(seen, level));
            if let Some(limit) = verdict.and_then(|verdict| self.budget_tracker.stops_at(verdict)) {
                report.coverage.stop(limit);
                break;
            }
        }
        report.progress = driver.done;
        match driver.cut_at() {
            Some(most) => report.coverage.stop(Limit::Steps(most)),
            None => {
                report.all_up_to = driver.all_up_to();
                report.is_everything = driver.is_everything() && report.coverage.is_complete();
            }
        }
        report
    }
}
