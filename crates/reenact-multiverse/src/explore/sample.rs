//! Executions by chance, with a meaning.
//!
//! Where there are too many classes to run them all, some are drawn. How they are drawn decides what can be said when
//! nothing was found, so each [`Strategy`] says what it is fair about. Executions are numbered, and each has its own seed
//! made of the main one and its number: what is drawn does not depend on how the work is divided.

mod births;
mod chooser;
mod crew;
mod divided;
mod enabled;
mod lot;
mod pct;
mod pctcp;
mod pos;
mod random;
pub(super) mod strategy;
mod urw;

use std::{ops::ControlFlow, time::Duration};

use self::{lot::Lot, strategy::Strategy};
use super::{Coverage, Progress, Report, Runs, Seen, pace::Pace};

/// Executions, if nobody says how many and for how long.
const EXECUTIONS: u64 = 1000;

/// Executions that are about to be drawn.
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
    strategy: Strategy,
    seed: u64,
    pace: Pace<'a>,
}

impl<'a, R: Runs> Sampler<'a, R> {
    /// A thousand executions of the program, unless something else is said.
    pub fn of(runs: &'a R) -> Self {
        Sampler {
            runs,
            strategy: Strategy::default(),
            seed: 0,
            pace: Pace::default(),
        }
    }

    /// Drawn like this.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Others than with another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// So many.
    pub fn executions(mut self, executions: u64) -> Self {
        self.pace.budget.executions = Some(executions);
        self
    }

    /// For so long. It is looked at between executions.
    pub fn time(mut self, time: Duration) -> Self {
        self.pace.budget.time = Some(time);
        self
    }

    /// None with more steps than this.
    pub fn steps(mut self, most: u32) -> Self {
        self.pace.budget.steps = Some(most);
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

    /// Draws, and shows each execution to `visit`.
    pub fn run(mut self, mut visit: impl FnMut(&Seen<'_, R>)) -> Report {
        let mut lot = self.lot();
        let mut report = nothing();
        self.draw_until(u64::MAX, &mut lot, &mut report, &mut visit);
        report
    }

    fn lot(&mut self) -> Lot {
        let budget = &mut self.pace.budget;
        if budget.time.is_none() {
            budget.executions.get_or_insert(EXECUTIONS);
        }
        Lot::new(self.strategy, self.seed, budget.steps)
    }

    /// Up to the execution with this number, or to where it is to stop.
    fn draw_until(
        &mut self,
        end: u64,
        lot: &mut Lot,
        report: &mut Report,
        visit: &mut impl FnMut(&Seen<'_, R>),
    ) {
        while report.progress.executions < end {
            let number = report.progress.executions;
            let limit = match self.pace.limit(&report.progress) {
                None => lot.draw(self.runs, number, &self.pace, report, &mut *visit),
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
