//! Explores alternatives to a given execution, nearest first.
//!
//! There are two kinds of changes to an execution.
//!
//! - Reverse a race. The new execution consists of everything before the first event, then everything between the two
//!   events that does not happen after the first, then the second event. An operation that still waits at the end takes
//!   part: it may race with what blocks it.
//! - Take another choice of a step. The new execution consists of everything before the step, then the step.
//!
//! In both cases the rest follows the original execution: the next step is the first one left in it whose activity is
//! enabled. Of all schedules of the original's class, the one with the fewest switches is followed, so a change is a
//! relation between classes. The distance of a class is the smallest number of changes that lead to it. If a change
//! does not make any step do something else, two classes are one change apart exactly if they differ in the order of
//! one pair of dependent events.
//!
//! Executions are visited breadth first, one of each class; classes are identified by their
//! [fingerprint](super::Fingerprint). The schedules of executions whose changes are not yet tried are kept, so memory
//! grows with the number of classes.

mod changes;
mod closest;

use std::{
    collections::{HashSet, VecDeque},
    hash::Hash,
    ops::ControlFlow,
};

pub use self::closest::Closest;

use self::changes::{Change, changes};
use super::{
    Budget, Divergence, Fingerprint, Fingerprinter, GradualReport, Limit, Links, Measure, Moment,
    Progress, Runs, Seen, Step, Verdict,
    budget_tracker::BudgetTracker,
    follow::{EndedRun, follow},
    linearise::linearise,
};

/// An exploration around a given execution.
///
/// ```text
/// let report = Around::of(&program, &schedule)
///     .from(Moment(20))
///     .near(2)
///     .run(|execution, distance| println!("{distance}: {:?}", execution.verdict))?;
/// println!("{report}");
/// ```
pub struct Around<'a, R: Runs> {
    runs: &'a R,
    base: &'a [Step],
    from: Moment,
    near: u32,
    budget_tracker: BudgetTracker<'a>,
}

impl<'a, R: Runs> Around<'a, R>
where
    R::Event: Hash,
{
    /// Explores everything, starting with what is near this schedule. If the schedule ends before the program does,
    /// the last activity continues as long as it can, and then always the enabled one with the lowest number.
    pub fn of(runs: &'a R, schedule: &'a [Step]) -> Self {
        Around {
            runs,
            base: schedule,
            from: Moment(0),
            near: u32::MAX,
            budget_tracker: BudgetTracker::default(),
        }
    }

    /// Varies only the steps at or after this point.
    pub fn from(mut self, moment: Moment) -> Self {
        self.from = moment;
        self
    }

    /// Limits the distance, in changes.
    pub fn near(mut self, most: u32) -> Self {
        self.near = most;
        self
    }

    /// Limits the exploration to this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget_tracker.budget = budget;
        self
    }

    /// Reports progress to `listener`, at the start and then at most once every 20 ms. Returning [`ControlFlow::Break`]
    /// cancels the exploration.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.budget_tracker.reporter.listener = Some(Box::new(listener));
        self
    }

    /// Explores, and passes one execution of each class to `visit`, with its distance. The first is the given
    /// execution.
    pub fn run(
        self,
        mut visit: impl FnMut(&Seen<'_, R>, u32),
    ) -> Result<GradualReport, Divergence> {
        self.explore(|followed, number, distance| {
            visit(&followed.seen(number), distance);
            ControlFlow::Continue(())
        })
    }

    fn explore(
        mut self,
        visit: impl FnMut(&EndedRun<R>, u64, u32) -> ControlFlow<()>,
    ) -> Result<GradualReport, Divergence> {
        let mut driver = AroundDriver {
            runs: self.runs,
            from: self.from.index(),
            most_steps: self
                .budget_tracker
                .budget
                .steps
                .map_or(usize::MAX, |most| most as usize),
            known: HashSet::default(),
            queue: VecDeque::new(),
            report: GradualReport::new(Measure::Changes),
            visit,
        };
        if let Some(limit) = self.budget_tracker.limit(0, Progress::default) {
            driver.report.coverage.stop(limit);
            return Ok(driver.report);
        }
        let base = driver.follow(self.base, &[])?;
        if driver.show(base, 0).is_break() {
            return Ok(driver.finish(false));
        }
        while let Some((schedule, distance)) = driver.queue.pop_front() {
            driver.report.all_up_to = Some(distance);
            if distance >= self.near {
                return Ok(driver.finish(false));
            }
            for change in driver.changes(&schedule) {
                let done = driver.report.progress;
                if let Some(limit) = self.budget_tracker.limit(done.started(), || done) {
                    driver.report.coverage.stop(limit);
                    return Ok(driver.finish(false));
                }
                if driver.execute(&change, distance + 1).is_break() {
                    return Ok(driver.finish(false));
                }
            }
        }
        Ok(driver.finish(true))
    }
}

/// An exploration in progress.
struct AroundDriver<'a, R, V> {
    runs: &'a R,
    from: usize,
    most_steps: usize,
    known: HashSet<Fingerprint, foldhash::fast::FixedState>,
    /// The executions whose changes are to be tried: the representative schedule of each class, and its distance.
    queue: VecDeque<(Vec<Step>, u32)>,
    report: GradualReport,
    visit: V,
}

impl<R, V> AroundDriver<'_, R, V>
where
    R: Runs<Event: Hash>,
    V: FnMut(&EndedRun<R>, u64, u32) -> ControlFlow<()>,
{
    fn execute(&mut self, change: &Change, distance: u32) -> ControlFlow<()> {
        let Change {
            prefix,
            next,
            guide,
        } = change;
        let Ok(run) = self.follow(prefix, guide) else {
            self.report.unfit += 1;
            return ControlFlow::Continue(());
        };
        if let Some(next) = *next {
            let step = run.0.event_log.schedule().get(prefix.len());
            self.report.unfit += u64::from(step.is_some_and(|step| step.activity != next));
        }
        self.show(run, distance)
    }

    /// Runs once.
    fn follow(
        &mut self,
        prefix: &[Step],
        guide: &[Step],
    ) -> Result<(EndedRun<R>, Fingerprint), Divergence> {
        let mut prints = Fingerprinter::default();
        let took = |step, event: &R::Event, links: &Links| prints.push(step, event, links);
        let followed = follow(self.runs, prefix, guide, self.most_steps, took)?;
        let steps = followed.event_log.schedule().len();
        self.report.progress.repeated += prefix.len() as u64;
        self.report.progress.steps += steps.saturating_sub(prefix.len()) as u64;
        Ok((followed, prints.fingerprint()))
    }

    /// Passes an execution to `visit` if its class is new.
    fn show(
        &mut self,
        (followed, fingerprint): (EndedRun<R>, Fingerprint),
        distance: u32,
    ) -> ControlFlow<()> {
        if followed.verdict == Verdict::Interrupted {
            self.report.coverage.stop(Limit::Interrupted);
            return ControlFlow::Break(());
        }
        let progress = &mut self.report.progress;
        if !self.known.insert(fingerprint) {
            progress.redundant += 1;
            return ControlFlow::Continue(());
        }
        let number = progress.executions;
        progress.count(followed.verdict);
        if followed.verdict == Verdict::Cut {
            let limit = Limit::Steps(self.most_steps as u32);
            self.report.coverage.stop(limit);
        }
        let standing = linearise(&followed.event_log, self.from);
        self.queue.push_back((standing, distance));
        (self.visit)(&followed, number, distance)
    }

    /// The possible changes of an execution that was run before.
    fn changes(&mut self, schedule: &[Step]) -> Vec<Change> {
        self.report.progress.repeated += schedule.len() as u64;
        match follow(self.runs, schedule, &[], self.most_steps, |_, _, _| ()) {
            Ok(followed) => changes(&followed, self.from),
            Err(_) => {
                self.report.unfit += 1;
                Vec::new()
            }
        }
    }

    /// Completes the report. If executions were cut or did not fit, it claims no complete level.
    fn finish(mut self, is_everything: bool) -> GradualReport {
        let limits = self.report.coverage.stopped_by();
        let is_cut = limits.iter().any(|limit| matches!(limit, Limit::Steps(_)));
        let is_less = is_cut || self.report.unfit > 0;
        self.report.is_everything = is_everything && !is_less;
        self.report.all_up_to.take_if(|_| is_less);
        self.report
    }
}
