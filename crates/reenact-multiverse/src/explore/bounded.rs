//! All executions that are simple in some sense: with few preemptions, or with few delays.
//!
//! Most failures need few. An exploration that has seen all executions with at most two preemptions says something that
//! can be understood, even if it never comes to an end.
//!
//! It is made level by level: first everything without a preemption, then with one, and so on. A universe is gone on from
//! once, on the lowest level on which it is reached, whichever schedule leads there: universes are known by their
//! [fingerprints](super::Fingerprint). So a level repeats nothing of those before it. The price is memory, for every
//! universe and for what is put off to a later level.

mod cost;
mod course;

use std::{hash::Hash, ops::ControlFlow};

pub use self::cost::Bounding;

use self::course::Course;
use super::{Budget, GradualReport, Limit, Progress, Runs, Seen, pace::Pace};

/// An exploration of simple executions that is about to start.
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
    pace: Pace<'a>,
}

impl<'a, R: Runs> Bounded<'a, R>
where
    R::Event: Hash,
{
    /// An exploration of everything, simple executions first.
    pub fn of(runs: &'a R, bounding: Bounding) -> Self {
        Bounded {
            runs,
            bounding,
            most: u32::MAX,
            pace: Pace::default(),
        }
    }

    /// Not those with more preemptions, or delays, than this.
    pub fn up_to(mut self, most: u32) -> Self {
        self.most = most;
        self
    }

    /// Within this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.pace.budget = budget;
        self
    }

    /// Not beyond the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.pace.stops_at_failure = true;
        self
    }

    /// Telling how far it is: at the start and some times in a second. To break is to give up.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.pace.listener = Some(Box::new(listener));
        self
    }

    /// Explores, and shows one execution of each class to `visit`, with the number of preemptions or delays that it takes.
    ///
    /// # Panics
    ///
    /// Panics if the program does not do the same under the same schedule.
    pub fn run(mut self, mut visit: impl FnMut(&Seen<'_, R>, u32)) -> GradualReport {
        let steps = self.pace.budget.steps;
        let mut course = Course::new(self.runs, self.bounding, self.most, steps);
        let mut report = GradualReport::new(self.bounding.measure());
        while let Some(level) = course.level() {
            if let Some(limit) = self.pace.limit(&course.done) {
                report.coverage.stop(limit);
                break;
            }
            let verdict = course.execute(|seen| visit(seen, level));
            if verdict.is_some_and(|verdict| self.pace.stops_at(verdict)) {
                report.coverage.stop(Limit::Failure);
                break;
            }
        }
        report.progress = course.done;
        match course.cut_at() {
            Some(most) => report.coverage.stop(Limit::Steps(most)),
            None => {
                report.all_up_to = course.all_up_to();
                report.is_everything = course.is_everything();
            }
        }
        report
    }
}
