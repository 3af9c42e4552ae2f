//! Configuration of an exploration, and the loop that runs it.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{
    Budget, Limit, Progress, Report, Runs, Step, Verdict,
    optimal::{History, OptimalDriver},
};

const REPORT_EVERY: Duration = Duration::from_millis(20);

/// An execution that has ended.
pub struct Execution<'a, R: Runs> {
    /// The number of the execution, from 0.
    pub number: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// The run, in its final state.
    pub run: &'a R::Run,
    pub(super) history: &'a History<R::Event>,
}

impl<R: Runs> Execution<'_, R> {
    /// The steps. Taking them again leads to the same final state.
    pub fn schedule(&self) -> &[Step] {
        self.history.schedule()
    }

    /// The steps, with what each turned out to do.
    pub fn events(&self) -> impl Iterator<Item = (Step, &R::Event)> {
        self.history.events()
    }
}

type Listener<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

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
    pub(super) budget: Budget,
    pub(super) stops_at_failure: bool,
    progress: Option<Box<Listener<'a>>>,
}

impl<'a, R: Runs> Explorer<'a, R> {
    /// Explores everything the program can do.
    pub fn of(runs: &'a R) -> Self {
        Explorer {
            runs,
            budget: Budget::default(),
            stops_at_failure: false,
            progress: None,
        }
    }

    /// Limits the exploration to this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Stops at the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.stops_at_failure = true;
        self
    }

    /// Reports progress to `listener`, at the start and then at most once every 20 ms. Returning [`ControlFlow::Break`]
    /// cancels the exploration.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Explores, and passes each execution to `visit`.
    pub fn run(mut self, mut visit: impl FnMut(&Execution<'_, R>)) -> Report {
        let mut driver = OptimalDriver::new(self.runs, self.budget.steps);
        let began = Instant::now();
        let mut told = None;
        let mut divergence = None;
        loop {
            let progress = || driver.progress();
            let limit = self.is_over(driver.executed(), &progress, began, &mut told);
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
            if self.stops_at_failure && verdict.is_some_and(Verdict::is_bad) {
                driver.coverage.stop(Limit::Failure);
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

    pub(super) fn is_over(
        &mut self,
        executed: u64,
        progress: &dyn Fn() -> Progress,
        began: Instant,
        told: &mut Option<Instant>,
    ) -> Option<Limit> {
        if let Some(most) = self.budget.executions
            && executed >= most
        {
            return Some(Limit::Executions(most));
        }
        if self.budget.time.is_none() && self.progress.is_none() {
            return None;
        }
        let now = Instant::now();
        if let Some(time) = self.budget.time
            && now - began >= time
        {
            return Some(Limit::Time(time));
        }
        if let Some(listener) = &mut self.progress
            && told.is_none_or(|told| now - told >= REPORT_EVERY)
        {
            *told = Some(now);
            if listener(progress()).is_break() {
                return Some(Limit::Cancelled);
            }
        }
        None
    }
}
