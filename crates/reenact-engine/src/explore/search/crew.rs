//! A search by several, each with the same program for itself: threads, or copies of a process that is to become the program.
//!
//! Activities are numbered as they are met, so a number need not mean the same to two of them. Threads begin by running the program
//! once in the same way, which gives the same numbers to those who are met by that; copies begin with the same numbers. What one of
//! them has found is told by names, and taken over by who asked once it fails there, too. If it does not, or if one of them has
//! found out that more must be told apart, then all was in vain, and who asked has to look alone.

use std::{
    cell::{Cell, OnceCell},
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use reenact_multiverse::explore::{
    Budget, Explorer, Progress, Report, Run, Sampler, Step, Verdict,
};

use super::{Found, Hunt, Tried, after};
use crate::explore::{
    failure::Failure,
    follow::{Misfit, write_down},
    schedule::Schedule,
    subject::{Fineness, Subject},
    whole::{Account, Family},
};

/// Makes the program of a thread.
type Make<'a, S> = dyn Fn() -> S + Sync + 'a;

/// Who else explores.
pub(super) enum Crew<'a, S> {
    /// Threads, with programs made by this.
    Threads(&'a Make<'a, S>),
    /// Processes, so many in all.
    Processes(&'a dyn Fn(usize) -> Family),
}

impl<S> Clone for Crew<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Crew<'_, S> {}

/// A schedule that means the same to all: who, and in which of the ways it can go.
struct Named(Vec<(String, u32)>);

/// The first of what failed, by the number of its execution.
#[derive(Default)]
struct First(Mutex<Option<(u64, Named)>>);

impl First {
    fn add<S: Subject>(&self, subject: &S, number: u64, steps: &[Step]) {
        let named = |step: &Step| (subject.name(step.activity), step.choice);
        self.add_named(number, || Named(steps.iter().map(named).collect()));
    }

    fn add_named(&self, number: u64, named: impl FnOnce() -> Named) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| number < *other) {
            *first = Some((number, named()));
        }
    }

    fn to_tell(&self) -> Option<(u64, Vec<(String, u32)>)> {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first
            .as_ref()
            .map(|(number, Named(steps))| (*number, steps.clone()))
    }

    fn take(self) -> Option<(u64, Named)> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Named {
    /// The same for one of those who know the program, as far as it is possible there.
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

/// A program for one of the crew, which has been run once.
fn member<S: Subject>(make: &Make<'_, S>, most: usize, fineness: Fineness) -> S {
    let subject = make();
    subject.refine(fineness);
    write_down(&subject, &[], most);
    subject
}

impl<S: Subject> Hunt<'_, S>
where
    S::Event: std::hash::Hash,
{
    /// Draws executions with all cores. Nothing if there is one, or if it was in vain.
    pub(super) fn sample_on_all(&mut self, sampler: Sampler<'_, S>) -> Option<Tried> {
        match self.crew? {
            Crew::Threads(make) => self.sample_by_threads(sampler, make),
            Crew::Processes(divide) => self.sample_by_processes(sampler, divide),
        }
    }

    /// Runs one execution of each class with all cores. Nothing if there is one, or if it was in vain.
    pub(super) fn exhaust_on_all(&mut self, budget: Budget) -> Option<Tried> {
        match self.crew? {
            Crew::Threads(make) => self.exhaust_by_threads(budget, make),
            Crew::Processes(divide) => self.exhaust_by_processes(budget, divide),
        }
    }

    fn sample_by_processes(
        &mut self,
        sampler: Sampler<'_, S>,
        divide: &dyn Fn(usize) -> Family,
    ) -> Option<Tried> {
        let (subject, cores, before) = (self.subject, self.search.cores, self.finding.executions);
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
        self.gather(family.into_inner(), report, first, endless.get())
    }

    fn exhaust_by_processes(
        &mut self,
        budget: Budget,
        divide: &dyn Fn(usize) -> Family,
    ) -> Option<Tried> {
        let (subject, cores, before) = (self.subject, self.search.cores, self.finding.executions);
        let first = First::default();
        let family = OnceCell::new();
        let listener = &mut *self.listener;
        let mut listener = |progress: Progress| match family.get().is_none_or(Family::is_first) {
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
        self.gather(family.into_inner(), report, first, 0)
    }

    /// What came of all parts. Does not return in those processes that were made to have one.
    fn gather(
        &mut self,
        family: Option<Family>,
        mut report: Report,
        first: First,
        mut endless: u64,
    ) -> Option<Tried> {
        let was_too_coarse = self.subject.was_too_coarse();
        if let Some(family) = family {
            let bad = match family.is_first() {
                true => None,
                false => first.to_tell(),
            };
            let own = Account {
                executions: report.progress.executions,
                steps: report.progress.steps,
                endless,
                was_too_coarse,
                stopped_by: report.coverage.stopped_by().to_vec(),
                divergence: report.divergence.clone(),
                bad,
            };
            for other in family.gather(&own)? {
                if other.was_too_coarse {
                    return None;
                }
                report.progress.executions += other.executions;
                report.progress.steps += other.steps;
                endless += other.endless;
                for limit in other.stopped_by {
                    report.coverage.stop(limit);
                }
                report.divergence = report.divergence.or(other.divergence);
                if let Some((number, steps)) = other.bad {
                    first.add_named(number, || Named(steps));
                }
            }
        }
        if was_too_coarse {
            return None;
        }
        Some(Tried {
            bad: self.at_home(first)?,
            report,
            endless,
        })
    }

    fn sample_by_threads(&mut self, sampler: Sampler<'_, S>, make: &Make<'_, S>) -> Option<Tried> {
        let most = self.search.steps as usize;
        let (first, endless) = (First::default(), AtomicU64::new(0));
        let fineness = self.subject.fineness();
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        let sampler = sampler.progress(|progress| listener(&after(before, progress)));
        let report = sampler.run_on(
            self.search.cores,
            || member(make, most, fineness),
            |subject, seen| {
                let is_endless = seen.verdict == Verdict::Cut;
                endless.fetch_add(u64::from(is_endless), Relaxed);
                if seen.verdict.is_bad() || is_endless {
                    first.add(subject, seen.number, seen.schedule);
                }
            },
        );
        Some(Tried {
            bad: self.at_home(first)?,
            report,
            endless: endless.into_inner(),
        })
    }

    fn exhaust_by_threads(&mut self, budget: Budget, make: &Make<'_, S>) -> Option<Tried> {
        let most = self.search.steps as usize;
        let (first, is_too_coarse) = (First::default(), AtomicBool::new(false));
        let fineness = self.subject.fineness();
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        // Not the one that has been run before, which may have other numbers.
        let own = member(make, most, fineness);
        let listener = |progress: Progress| match is_too_coarse.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => listener(&after(before, progress)),
        };
        let report = Explorer::of(&own)
            .budget(budget)
            .stop_at_failure()
            .progress(listener)
            .run_on(
                self.search.cores,
                || member(make, most, fineness),
                |subject, execution| {
                    if subject.was_too_coarse() {
                        is_too_coarse.store(true, Relaxed);
                    }
                    if execution.verdict.is_bad() {
                        first.add(subject, execution.number, execution.schedule());
                    }
                },
            );
        if is_too_coarse.into_inner() || own.was_too_coarse() {
            return None;
        }
        drop(own);
        Some(Tried {
            bad: self.at_home(first)?,
            report,
            endless: 0,
        })
    }

    /// What was found, as it is found here. Nothing if it is not.
    #[expect(clippy::option_option, reason = "that nothing was found is known")]
    fn at_home(&mut self, first: First) -> Option<Option<(Vec<Step>, u64)>> {
        let Some((number, named)) = first.take() else {
            return Some(None);
        };
        let most = self.search.steps as usize;
        // What is found out by following it may make it fit the second time.
        for _ in 0..2 {
            let steps = named.steps(self.subject);
            let again = write_down(self.subject, &steps, most);
            let is_endless = again.steps.len() >= most;
            if steps.len() == named.0.len() && (again.verdict.is_bad() || is_endless) {
                return Some(Some((steps, self.finding.executions + number + 1)));
            }
        }
        self.missed = Some((named.0.len(), self.finding.executions + number + 1));
        None
    }

    /// What failed for another one and never did here: the program does not do the same twice.
    pub(super) fn tell_what_was_missed(&mut self) {
        let (None, None, Some((steps, execution))) =
            (&self.bad, &self.finding.failure, self.missed.take())
        else {
            return;
        };
        self.finding.failure = Some(Found {
            failures: vec![Failure::Divergence(Misfit::at_the_end(steps))],
            schedule: Schedule::default(),
            execution,
        });
    }
}
