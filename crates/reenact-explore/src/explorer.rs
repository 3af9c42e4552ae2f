//! Configuration of an exploration, and the loop that runs it.

use std::ops::ControlFlow;

use super::{
    Budget, Limit, Progress, Report, Runs, Step, Verdict,
    budget_tracker::BudgetTracker,
    optimal::{ClockedLog, OptimalDriver},
};

/// An execution that has ended.
pub struct EndedExecution<'a, R: Runs> {
    /// The number of the execution, from 0.
    pub number: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// The run, in its final state.
    pub run: &'a R::Run,
    pub(super) log: &'a ClockedLog<R::Event>,
}

impl<R: Runs> EndedExecution<'_, R> {
    /// The steps. Taking them again leads to the same final state.
    pub fn schedule(&self) -> &[Step] {
        self.log.steps().schedule()
    }

    /// The steps, with what each turned out to do.
    pub fn events(&self) -> impl Iterator<Item = (Step, &R::Event)> {
        self.log.events()
    }
}

/// An exploration that runs one execution of each class.
///
/// ```text
/// let report = Explorer::of(&program)
///     .budget(Budget { executions: Some(100_000), ..Budget::default() })
///     .stop_at_failure()
///     .run(|execution| println!("{:?}: {:?}", execution.verdict, execution.schedule()));
/// println!("{report}");
/// ```
pub struct Explorer<'a, R: Runs> {
    pub(super) runs: &'a R,
    pub(super) budget_tracker: BudgetTracker<'a>,
}

impl<'a, R: Runs> Explorer<'a, R> {
    /// Explores everything the program can do.
    pub fn of(runs: &'a R) -> Self {
        Explorer {
            runs,
            budget_tracker: BudgetTracker::default(),
        }
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

    /// Explores, and passes each execution to `visit`.
    pub fn run(mut self, mut visit: impl FnMut(&EndedExecution<'_, R>)) -> Report {
        let mut driver = OptimalDriver::new(self.runs, self.budget_tracker.budget.steps);
        let mut divergence = None;
        loop {
            let progress = || driver.progress();
            let limit = self.budget_tracker.limit(driver.executed(), progress);
            if let Some(limit) = limit {
                driver.coverage.stop(limit);
                break;
            }
            let verdict = match driver.execute(&mut visit) {
                Ok(verdict) => verdict,
                Err(found) => {
                    driver.coverage.stop(Limit::Divergence);
                    divergence = Some(found);
                    break;
                }
            };
            if let Some(limit) = verdict.and_then(|verdict| self.budget_tracker.stops_at(verdict)) {
                driver.coverage.stop(limit);
                break;
            }
            if !driver.go_back() {
                break;
            }
        }
        Report {
            progress: driver.progress(),
            coverage: driver.coverage,
            divergence,
        }
    }
}
