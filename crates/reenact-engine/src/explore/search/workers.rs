//! A search by several workers, each with its own instance of the program: threads, or copies of a process that is to
//! become the program.
//!
//! Activities are numbered as they are created, so a number may mean different activities to two workers. Threads begin
//! by running the program once under the same schedule, which gives the same numbers to the activities of that
//! execution; copies of a process begin with the same numbers. Failing schedules are exchanged by names, and accepted
//! once they fail in the main worker, too. If a schedule does not fail there, the results are discarded and the main
//! worker searches alone. If a worker has found that steps must be finer, the results are discarded, too, and all
//! workers search again with finer steps.

use std::{
    cell::{Cell, OnceCell},
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use reenact_explore::{Budget, Explorer, Progress, Report, Run, Sampler, Step, Verdict};

use super::{Found, Hunt, Search, Tried, after};
use crate::explore::{
    failure::Failure,
    follow::{does_not_fail, write_down},
    process::{Account, Family},
    schedule::Schedule,
    subject::{Granularity, Subject},
};

/// Creates the program of a thread.
type Make<'a, S> = dyn Fn() -> S + Sync + 'a;

/// The other workers.
pub(super) enum Workers<'a, S> {
    /// Threads, whose programs this function creates.
    Threads(&'a Make<'a, S>),
    /// Processes; the function makes the given number of them in all.
    Processes(&'a dyn Fn(usize) -> Family),
}

impl<S> Clone for Workers<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Workers<'_, S> {}

/// A schedule that is valid for all workers: the name of the activity and the choice of each step.
struct NamedSchedule(Vec<(String, u32)>);

/// The failing execution with the lowest number so far.
#[derive(Default)]
struct First(Mutex<Option<(u64, NamedSchedule)>>);

impl First {
    fn add<S: Subject>(&self, subject: &S, number: u64, steps: &[Step]) {
        let named = |step: &Step| (subject.name(step.activity), step.choice);
        self.add_named(number, || NamedSchedule(steps.iter().map(named).collect()));
    }

    fn add_named(&self, number: u64, named: impl FnOnce() -> NamedSchedule) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| number < *other) {
            *first = Some((number, named()));
        }
    }

    fn to_report(&self) -> Option<(u64, Vec<(String, u32)>)> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first
            .as_ref()
            .map(|(number, NamedSchedule(steps))| (*number, steps.clone()))
    }

    fn take(self) -> Option<(u64, NamedSchedule)> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How fine the steps of the workers have become.
struct Finest {
    at_start: Granularity,
    now: Mutex<Granularity>,
}

impl Finest {
    fn new(at_start: Granularity) -> Finest {
        Finest {
            at_start,
            now: Mutex::new(at_start),
        }
    }

    fn get(&self) -> Granularity {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add<S: Subject>(&self, subject: &S) {
        let other = subject.granularity();
        if other != self.at_start {
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = now.or(other);
        }
    }
}

impl NamedSchedule {
    /// Converts the schedule to steps of this subject, as far as they are possible there.
    fn steps<S: Subject>(&self, subject: &S) -> Vec<Step> {
        let mut run = subject.start();
        let mut steps = Vec::new();
        for (who, choice) in &self.0 {
            let step = subject.find(who).map(|activity| Step {
                activity,
                choice: *choice,
            });
            let is_possible = |step: &Step| {
                run.is_enabled(step.activity) && step.choice < run.choices(step.activity)
            };
            let Some(step) = step.filter(is_possible) else {
                break;
            };
            run.step(step);
            steps.push(step);
        }
        steps
    }
}

/// Creates the program of a worker and runs it once.
fn member<S: Subject>(make: &Make<'_, S>, search: &Search, granularity: Granularity) -> S {
    let subject = make();
    subject.refine(granularity);
    subject.be_fair();
    subject.allow_blocked(search.allows_blocked);
    subject.wake_spuriously(search.spurious_wakeups);
    write_down(&subject, &[], search.steps as usize);
    subject
}

impl<S: Subject> Hunt<'_, S>
where
    S::Event: std::hash::Hash,
{
    /// Samples executions on all cores. Returns none if there is only one core, or if the results had to be discarded;
    /// if that is because steps must be finer, they are finer from then on.
    pub(super) fn sample_on_all(&mut self, sampler: Sampler<'_, S>) -> Option<Tried> {
        match self.workers? {
            Workers::Threads(make) => self.sample_by_threads(sampler, make),
            Workers::Processes(divide) => self.sample_by_processes(sampler, divide),
        }
    }

    /// Runs one execution of each class on all cores. Returns none in the same cases as
    /// [`sample_on_all`](Hunt::sample_on_all).
    pub(super) fn exhaust_on_all(&mut self, budget: Budget) -> Option<Tried> {
        match self.workers? {
            Workers::Threads(make) => self.exhaust_by_threads(budget, make),
            Workers::Processes(divide) => self.exhaust_by_processes(budget, divide),
        }
    }

    fn sample_by_processes(
        &mut self,
        sampler: Sampler<'_, S>,
        divide: &dyn Fn(usize) -> Family,
    ) -> Option<Tried> {
        let (subject, cores, before) = (self.subject, self.search.cores, self.finding.executions);
        let granularity = subject.granularity();
        let (first, endless) = (First::default(), Cell::new(0));
        let family = OnceCell::new();
        let listener = &mut *self.listener;
        let mut listener = |progress: Progress| match family.get().is_none_or(Family::is_first) {
            true => listener(&after(before, progress)),
            false => ControlFlow::Continue(()),
        };
        let report = sampler.progress(&mut listener).run_divided(
            || {
                let part = family.get_or_init(|| divide(cores)).part();
                if !part.is_first {
                    endless.set(0);
                }
                part
            },
            |seen| {
                let is_endless = seen.verdict == Verdict::Cut;
                endless.set(endless.get() + u64::from(is_endless));
                if seen.verdict.is_bad() || is_endless {
                    first.add(subject, seen.number, seen.schedule);
                }
            },
        );
        self.gather(
            family.into_inner(),
            granularity,
            report,
            first,
            endless.get(),
        )
    }

    fn exhaust_by_processes(
        &mut self,
        budget: Budget,
        divide: &dyn Fn(usize) -> Family,
    ) -> Option<Tried> {
        let (subject, cores, before) = (self.subject, self.search.cores, self.finding.executions);
        let granularity = subject.granularity();
        let first = First::default();
        let family = OnceCell::new();
        let listener = &mut *self.listener;
        let mut listener = |progress: Progress| match family.get().is_none_or(Family::is_first) {
            _ if subject.granularity() != granularity => ControlFlow::Break(()),
            true => listener(&after(before, progress)),
            false => ControlFlow::Continue(()),
        };
        let report = Explorer::of(subject)
            .budget(budget)
            .stop_at_failure()
            .progress(&mut listener)
            .run_divided(
                cores,
                || family.get_or_init(|| divide(cores)).part(),
                |execution| {
                    if execution.verdict.is_bad() {
                        first.add(subject, execution.number, execution.schedule());
                    }
                },
            );
        self.gather(family.into_inner(), granularity, report, first, 0)
    }

    /// Collects the results of all parts, which began with steps of this granularity. Does not return in the processes
    /// that were created for a part.
    fn gather(
        &mut self,
        family: Option<Family>,
        granularity: Granularity,
        mut report: Report,
        first: First,
        mut endless: u64,
    ) -> Option<Tried> {
        if let Some(family) = family {
            let bad = match family.is_first() {
                true => None,
                false => first.to_report(),
            };
            let own = Account {
                executions: report.progress.executions,
                steps: report.progress.steps,
                endless,
                granularity: self.subject.granularity(),
                stopped_by: report.coverage.stopped_by().to_vec(),
                divergence: report.divergence.clone(),
                bad,
                notes: self.subject.supervisor().notes(),
            };
            for other in family.gather(&own)? {
                self.subject.refine(other.granularity);
                self.subject.supervisor().add(other.notes);
                report.progress.executions += other.executions;
                report.progress.steps += other.steps;
                endless += other.endless;
                for limit in other.stopped_by {
                    report.coverage.stop(limit);
                }
                report.divergence = report.divergence.or(other.divergence);
                if let Some((number, steps)) = other.bad {
                    first.add_named(number, || NamedSchedule(steps));
                }
            }
        }
        Some(Tried {
            bad: self.at_home(first, granularity)?,
            report,
            endless,
        })
    }

    fn sample_by_threads(&mut self, sampler: Sampler<'_, S>, make: &Make<'_, S>) -> Option<Tried> {
        let (first, endless) = (First::default(), AtomicU64::new(0));
        let granularity = self.subject.granularity();
        let finest = Finest::new(granularity);
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        let sampler = sampler.progress(|progress| listener(&after(before, progress)));
        let report = sampler.run_on(
            self.search.cores,
            || member(make, self.search, granularity),
            |subject, seen| {
                finest.add(subject);
                let is_endless = seen.verdict == Verdict::Cut;
                endless.fetch_add(u64::from(is_endless), Relaxed);
                if seen.verdict.is_bad() || is_endless {
                    first.add(subject, seen.number, seen.schedule);
                }
            },
        );
        self.subject.refine(finest.get());
        Some(Tried {
            bad: self.at_home(first, granularity)?,
            report,
            endless: endless.into_inner(),
        })
    }

    fn exhaust_by_threads(&mut self, budget: Budget, make: &Make<'_, S>) -> Option<Tried> {
        let first = First::default();
        let granularity = self.subject.granularity();
        let finest = Finest::new(granularity);
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        // A new subject, because the main one has already been run and may have other numbers.
        let own = member(make, self.search, granularity);
        let listener = |progress: Progress| match finest.get() == granularity {
            true => listener(&after(before, progress)),
            false => ControlFlow::Break(()),
        };
        let report = Explorer::of(&own)
            .budget(budget)
            .stop_at_failure()
            .progress(listener)
            .run_on(
                self.search.cores,
                || member(make, self.search, granularity),
                |subject, execution| {
                    finest.add(subject);
                    if execution.verdict.is_bad() {
                        first.add(subject, execution.number, execution.schedule());
                    }
                },
            );
        finest.add(&own);
        drop(own);
        self.subject.refine(finest.get());
        Some(Tried {
            bad: self.at_home(first, granularity)?,
            report,
            endless: 0,
        })
    }

    /// Converts the failing schedule to steps of the main subject. Returns none if it does not fail there, or if steps
    /// have become finer than they were at the start.
    #[expect(clippy::option_option, reason = "that nothing was found is known")]
    fn at_home(&mut self, first: First, at_start: Granularity) -> Option<Option<(Vec<Step>, u64)>> {
        if self.subject.granularity() != at_start {
            return None;
        }
        let Some((number, named)) = first.take() else {
            return Some(None);
        };
        let most = self.search.steps as usize;
        // What is learned by following it may make it fit the second time.
        for _ in 0..2 {
            let steps = named.steps(self.subject);
            let again = write_down(self.subject, &steps, most);
            let is_endless = again.steps.len() >= most;
            if steps.len() == named.0.len() && (again.verdict.is_bad() || is_endless) {
                return Some(Some((steps, self.finding.executions + number + 1)));
            }
        }
        self.missed = Some(self.finding.executions + number + 1);
        None
    }

    /// Reports an execution that failed in another worker and never here: the program does not behave the same under
    /// the same schedule.
    pub(super) fn report_what_was_missed(&mut self) {
        let (None, None, Some(execution)) = (&self.bad, &self.finding.failure, self.missed.take())
        else {
            return;
        };
        self.finding.failure = Some(Found {
            failures: vec![Failure::Divergence(does_not_fail(), self.reads())],
            schedule: Schedule::default(),
            execution,
            is_reliable: false,
        });
    }
}
