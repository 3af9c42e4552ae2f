//! What else could have happened, from a given execution outwards.
//!
//! A change of an execution is one of two things.
//!
//! - A race goes the other way round. What happens is everything before its first event, then what comes between the two
//!   and does not happen after the first, then the second. What waits at the end takes part: it may race with what kept it
//!   from going on.
//! - A step goes another way. What happens is everything before it, then the step.
//!
//! In both cases the rest goes along with the execution that was changed: of those who can go on, whoever comes first in
//! it, of all schedules of its class in the one with the fewest switches. So a change is a relation between classes. The
//! distance of a class is the smallest number of changes that lead to it. If no step does something else because of a
//! change, two classes are one change apart exactly if they differ in the order of one pair of dependent events.
//!
//! Executions are visited breadth first, one of each class, which is known by its [fingerprint](super::Fingerprint). The
//! schedules of those whose changes are yet to be tried are kept, so memory grows with the number of classes.

mod changes;
mod closest;

use std::{collections::VecDeque, hash::Hash, ops::ControlFlow};

use hashbrown::HashSet;

pub use self::closest::Closest;

use self::changes::{Change, changes};
use super::{
    Budget, Fingerprint, Fingerprinter, GradualReport, Limit, Links, Measure, Misfit, Moment,
    Progress, Runs, Seen, Step, Verdict,
    follow::{Followed, follow},
    linearise::linearise,
    pace::{Pace, count},
};

/// An exploration around an execution that is about to start.
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
    pace: Pace<'a>,
}

impl<'a, R: Runs> Around<'a, R>
where
    R::Event: Hash,
{
    /// An exploration of everything, what is near this schedule first. If it ends before the program does, the rest is
    /// left to the program.
    pub fn of(runs: &'a R, schedule: &'a [Step]) -> Self {
        Around {
            runs,
            base: schedule,
            from: Moment(0),
            near: u32::MAX,
            pace: Pace::default(),
        }
    }

    /// Only what comes at this point or after it may differ.
    pub fn from(mut self, moment: Moment) -> Self {
        self.from = moment;
        self
    }

    /// Not those that are more changes away than this.
    pub fn near(mut self, most: u32) -> Self {
        self.near = most;
        self
    }

    /// Within this budget.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.pace.budget = budget;
        self
    }

    /// Telling how far it is: at the start and some times in a second. To break is to give up.
    pub fn progress(mut self, listener: impl FnMut(Progress) -> ControlFlow<()> + 'a) -> Self {
        self.pace.listener = Some(Box::new(listener));
        self
    }

    /// Explores, and shows one execution of each class to `visit`, with its distance. The first is the one given.
    pub fn run(self, mut visit: impl FnMut(&Seen<'_, R>, u32)) -> Result<GradualReport, Misfit> {
        self.explore(|followed, number, distance| {
            visit(&followed.seen(number), distance);
            ControlFlow::Continue(())
        })
    }

    fn explore(
        mut self,
        visit: impl FnMut(&Followed<R>, u64, u32) -> ControlFlow<()>,
    ) -> Result<GradualReport, Misfit> {
        let mut course = Course {
            runs: self.runs,
            from: self.from.index(),
            most_steps: self
                .pace
                .budget
                .steps
                .map_or(usize::MAX, |most| most as usize),
            known: HashSet::default(),
            queue: VecDeque::new(),
            report: GradualReport::new(Measure::Changes),
            visit,
        };
        if let Some(limit) = self.pace.limit(&Progress::default()) {
            course.report.coverage.stop(limit);
            return Ok(course.report);
        }
        let base = course.follow(self.base, &[])?;
        if course.show(base, 0).is_break() {
            return Ok(course.finish(false));
        }
        while let Some((schedule, distance)) = course.queue.pop_front() {
            course.report.all_up_to = Some(distance);
            if distance >= self.near {
                return Ok(course.finish(false));
            }
            for change in course.changes(&schedule) {
                if let Some(limit) = self.pace.limit(&course.report.progress) {
                    course.report.coverage.stop(limit);
                    return Ok(course.finish(false));
                }
                if course.execute(&change, distance + 1).is_break() {
                    return Ok(course.finish(false));
                }
            }
        }
        Ok(course.finish(true))
    }
}

/// An exploration under way.
struct Course<'a, R, V> {
    runs: &'a R,
    from: usize,
    most_steps: usize,
    known: HashSet<Fingerprint, foldhash::fast::FixedState>,
    /// Those whose changes are to be tried, each by the schedule that stands for its class, with its distance.
    queue: VecDeque<(Vec<Step>, u32)>,
    report: GradualReport,
    visit: V,
}

impl<R, V> Course<'_, R, V>
where
    R: Runs<Event: Hash>,
    V: FnMut(&Followed<R>, u64, u32) -> ControlFlow<()>,
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
            let step = run.0.chronicle.schedule().get(prefix.len());
            self.report.unfit += u64::from(step.is_some_and(|step| step.activity != next));
        }
        self.show(run, distance)
    }

    /// Runs once.
    fn follow(
        &mut self,
        prefix: &[Step],
        guide: &[Step],
    ) -> Result<(Followed<R>, Fingerprint), Misfit> {
        let mut prints = Fingerprinter::default();
        let took = |step, event: &R::Event, links: &Links| prints.push(step, event, links);
        let followed = follow(self.runs, prefix, guide, self.most_steps, took)?;
        let steps = followed.chronicle.schedule().len();
        self.report.progress.repeated += prefix.len() as u64;
        self.report.progress.steps += (steps - prefix.len()) as u64;
        Ok((followed, prints.fingerprint()))
    }

    /// Shows an execution if it is new.
    fn show(
        &mut self,
        (followed, fingerprint): (Followed<R>, Fingerprint),
        distance: u32,
    ) -> ControlFlow<()> {
        let progress = &mut self.report.progress;
        if !self.known.insert(fingerprint) {
            progress.redundant += 1;
            return ControlFlow::Continue(());
        }
        let number = progress.executions;
        count(progress, followed.verdict);
        if followed.verdict == Verdict::Cut {
            let limit = Limit::Steps(self.most_steps as u32);
            self.report.coverage.stop(limit);
        }
        let standing = linearise(&followed.chronicle, self.from);
        self.queue.push_back((standing, distance));
        (self.visit)(&followed, number, distance)
    }

    /// What can be changed in an execution that was run before.
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

    /// What can be said at the end. Where executions were cut, nothing can be said of all.
    fn finish(mut self, is_everything: bool) -> GradualReport {
        let limits = self.report.coverage.stopped_by();
        let is_cut = limits.iter().any(|limit| matches!(limit, Limit::Steps(_)));
        let is_less = is_cut || self.report.unfit > 0;
        self.report.is_everything = is_everything && !is_less;
        self.report.all_up_to.take_if(|_| is_less);
        self.report
    }
}
