//! Random executions, with a guarantee for each strategy.
//!
//! Where there are too many classes to run them all, executions are drawn at random. How they are drawn determines what
//! a run without failures means, so each [`RandomStrategy`] documents its distribution. Executions are numbered, and
//! each has its own seed made of the main seed and its number: the result does not depend on how the work is divided.

mod births;
mod chooser;
mod divided;
mod draws;
mod enabled;
mod pct;
mod pctcp;
mod pos;
mod random;
pub(super) mod strategy;
mod urw;
mod workers;

use std::{ops::ControlFlow, time::Duration};

use self::{draws::Draws, strategy::RandomStrategy};
use super::{Coverage, Progress, Report, Runs, Seen, budget_tracker::BudgetTracker};

/// Default number of executions, if neither a number nor a time is given.
const EXECUTIONS: u64 = 1000;

/// A sampling of executions.
///
/// ```text
/// let report = Sampler::of(&program)
///     .strategy(Strategy::Pct { depth: 3 })
///     .seed(7)
///     .executions(10_000)
///     .stop_at_failure()
///     .run(|execution| println!("{:?}: {:?}", execution.verdict, execution.schedule));
/// println!("{report}");
/// ```
pub struct Sampler<'a, R: Runs> {
    runs: &'a R,
    strategy: RandomStrategy,
    seed: u64,
    budget_tracker: BudgetTracker<'a>,
}

impl<'a, R: Runs> Sampler<'a, R> {
    /// Draws a thousand executions of the program by default.
    pub fn of(runs: &'a R) -> Self {
        Sampler {
            runs,
            strategy: RandomStrategy::default(),
            seed: 0,
            budget_tracker: BudgetTracker::default(),
        }
    }

    /// Sets the strategy.
    pub fn strategy(mut self, strategy: RandomStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of executions.
    pub fn executions(mut self, executions: u64) -> Self {
        self.budget_tracker.budget.executions = Some(executions);
        self
    }

    /// Limits the time, checked between executions.
    pub fn time(mut self, time: Duration) -> Self {
        self.budget_tracker.budget.time = Some(time);
        self
    }

    /// Limits the number of steps of an execution.
    pub fn steps(mut self, most: u32) -> Self {
        self.budget_tracker.budget.steps = Some(most);
        self
    }

    /// Stops at the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.budget_tracker.stops_at_failure = true;
        self
    }

    /// Reports progress to `listener`, at the start and then at most once every 20 ms. Returning [`ControlFlow::Break`]
    /// cancels the sampling.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.budget_tracker.reporter.listener = Some(Box::new(listener));
        self
    }

    /// Draws executions, and passes each to `visit`.
    pub fn run(mut self, mut visit: impl FnMut(&Seen<'_, R>)) -> Report {
        let mut draws = self.draws();
        let mut report = nothing();
        self.draw_until(u64::MAX, &mut draws, &mut report, &mut visit);
        report
    }

    fn draws(&mut self) -> Draws {
        let budget = &mut self.budget_tracker.budget;
        if budget.time.is_none() {
            budget.executions.get_or_insert(EXECUTIONS);
        }
        Draws::new(self.strategy, self.seed, budget.steps)
    }

    /// Draws executions up to this number, or until a limit is reached.
    fn draw_until(
        &mut self,
        end: u64,
        draws: &mut Draws,
        report: &mut Report,
        visit: &mut impl FnMut(&Seen<'_, R>),
    ) {
        while report.progress.executions < end {
            let done = report.progress;
            let limit = match self.budget_tracker.limit(done.started(), || done) {
                None => draws.draw(
                    self.runs,
                    done.executions,
                    &self.budget_tracker,
                    report,
                    &mut *visit,
                ),
                limit => limit,
            };
            if let Some(limit) = limit {
                report.coverage.stop(limit);
                return;
            }
        }
    }
}

fn nothing() -> Report {
    Report {
        progress: Progress::default(),
        coverage: Coverage::default(),
        divergence: None,
    }
}
