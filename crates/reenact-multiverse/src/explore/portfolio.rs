//! A bit of everything, for those who do not want to choose.
//!
//! Few random executions find what is likely, at once. Simple schedules find what is not likely and can be explained. Both
//! leave most of the budget to the exhaustive exploration, which finds the rest if there is enough of it. Each part says
//! for itself what it has seen, since no sum of them would be true.

use std::{
    fmt,
    hash::Hash,
    time::{Duration, Instant},
};

use super::{
    Bounded, Bounding, Budget, Explorer, GradualReport, Progress, Report, Runs, Sampler, Seen,
    Strategy,
};

/// Each of the first two parts has this share of the budget.
const SHARE: u32 = 4;
/// Simple are schedules with at most so many preemptions.
const PREEMPTIONS: u32 = 2;

/// Which part an execution belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A [uniform random walk](Strategy::Urw).
    Random,
    /// All schedules with few [preemptions](Bounding::Preemptions).
    Simple,
    /// One execution of each class.
    Exhaustive,
}

/// An exploration with everything there is that is about to start.
///
/// ```text
/// let report = Portfolio::of(&program)
///     .budget(Budget { time: Some(Duration::from_secs(10)), ..Budget::default() })
///     .stop_at_failure()
///     .run(|execution, part| println!("{part:?}: {:?}", execution.verdict));
/// println!("{report}");
/// ```
pub struct Portfolio<'a, R> {
    runs: &'a R,
    budget: Budget,
    seed: u64,
    stops_at_failure: bool,
}

/// What it found. A part that is `None` was not needed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortfolioReport {
    /// What the random walk found.
    pub random: Report,
    /// What was found with few preemptions.
    pub simple: Option<GradualReport>,
    /// What the exhaustive exploration found.
    pub exhaustive: Option<Report>,
}

impl<'a, R: Runs> Portfolio<'a, R>
where
    R::Event: Hash,
{
    /// An exploration of the program.
    pub fn of(runs: &'a R) -> Self {
        Portfolio {
            runs,
            budget: Budget::default(),
            seed: 0,
            stops_at_failure: false,
        }
    }

    /// Within this budget, for all parts together.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Other random executions than with another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Not beyond the first failure or deadlock.
    pub fn stop_at_failure(mut self) -> Self {
        self.stops_at_failure = true;
        self
    }

    /// Explores, and shows each execution to `visit`, with the part it belongs to. Numbers go on from part to part.
    pub fn run(self, mut visit: impl FnMut(&Seen<'_, R>, Part)) -> PortfolioReport {
        let began = Instant::now();
        let random = self.random(|seen| visit(seen, Part::Random));
        let mut report = PortfolioReport {
            random,
            simple: None,
            exhaustive: None,
        };
        if self.has_enough(&report) {
            return report;
        }
        let before = report.executions();
        let simple = self.simple(|seen| visit(&later(seen, before), Part::Simple));
        report.simple = Some(simple);
        if self.has_enough(&report) {
            return report;
        }
        let before = report.executions();
        let left = self.left(report.spent(), began.elapsed());
        let exhaustive =
            self.exhaustive(left, |seen| visit(&later(seen, before), Part::Exhaustive));
        report.exhaustive = Some(exhaustive);
        report
    }

    fn random(&self, visit: impl FnMut(&Seen<'_, R>)) -> Report {
        let Budget {
            executions,
            steps,
            time,
        } = self.share();
        let mut sampler = Sampler::of(self.runs)
            .strategy(Strategy::Urw)
            .seed(self.seed);
        if let Some(executions) = executions {
            sampler = sampler.executions(executions);
        }
        if let Some(steps) = steps {
            sampler = sampler.steps(steps);
        }
        if let Some(time) = time {
            sampler = sampler.time(time);
        }
        if self.stops_at_failure {
            sampler = sampler.stop_at_failure();
        }
        sampler.run(visit)
    }

    fn simple(&self, mut visit: impl FnMut(&Seen<'_, R>)) -> GradualReport {
        let mut bounded = Bounded::of(self.runs, Bounding::Preemptions)
            .up_to(PREEMPTIONS)
            .budget(self.share());
        if self.stops_at_failure {
            bounded = bounded.stop_at_failure();
        }
        bounded.run(|seen, _| visit(seen))
    }

    fn exhaustive(&self, budget: Budget, mut visit: impl FnMut(&Seen<'_, R>)) -> Report {
        let mut explorer = Explorer::of(self.runs).budget(budget);
        if self.stops_at_failure {
            explorer = explorer.stop_at_failure();
        }
        explorer.run(|execution| {
            visit(&Seen {
                number: execution.number,
                verdict: execution.verdict,
                run: execution.run,
                schedule: execution.schedule(),
            });
        })
    }

    /// Of the budget, for one of the first two parts.
    fn share(&self) -> Budget {
        Budget {
            executions: self.budget.executions.map(|most| most / u64::from(SHARE)),
            steps: self.budget.steps,
            time: self.budget.time.map(|time| time / SHARE),
        }
    }

    /// Of the budget, after so many executions and so much time.
    fn left(&self, executions: u64, time: Duration) -> Budget {
        let most = self.budget.executions;
        Budget {
            executions: most.map(|most| most.saturating_sub(executions)),
            steps: self.budget.steps,
            time: self.budget.time.map(|most| most.saturating_sub(time)),
        }
    }

    /// Whether there is nothing left to be found.
    fn has_enough(&self, report: &PortfolioReport) -> bool {
        self.stops_at_failure && report.has_failures() || report.is_complete()
    }
}

/// The same execution with a number that comes after those before it.
fn later<'a, R: Runs>(seen: &Seen<'a, R>, before: u64) -> Seen<'a, R> {
    Seen {
        number: before + seen.number,
        ..*seen
    }
}

impl PortfolioReport {
    /// Whether every class of executions was run to its end.
    pub fn is_complete(&self) -> bool {
        let simple = self.simple.as_ref();
        let exhaustive = self.exhaustive.as_ref();
        simple.is_some_and(|report| report.is_everything)
            || exhaustive.is_some_and(|report| report.coverage.is_complete())
    }

    /// Whether there were failures or deadlocks.
    pub fn has_failures(&self) -> bool {
        self.progress()
            .any(|part| part.failures + part.deadlocks > 0)
    }

    fn progress(&self) -> impl Iterator<Item = &Progress> {
        let simple = self.simple.iter().map(|report| &report.progress);
        let exhaustive = self.exhaustive.iter().map(|report| &report.progress);
        std::iter::once(&self.random.progress)
            .chain(simple)
            .chain(exhaustive)
    }

    fn executions(&self) -> u64 {
        self.progress().map(|part| part.executions).sum()
    }

    /// The executions that count against the budget.
    fn spent(&self) -> u64 {
        self.progress()
            .map(|part| part.executions + part.redundant)
            .sum()
    }
}

impl fmt::Display for PortfolioReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "random: {}", self.random)?;
        if let Some(simple) = &self.simple {
            write!(out, "\nsimple: {simple}")?;
        }
        if let Some(exhaustive) = &self.exhaustive {
            write!(out, "\nexhaustive: {exhaustive}")?;
        }
        Ok(())
    }
}
