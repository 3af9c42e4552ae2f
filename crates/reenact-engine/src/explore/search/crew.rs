//! A search by several threads, each with the same program for itself.
//!
//! Activities are numbered as they are met, so a number need not mean the same to two of them. All begin by running the program once in
//! the same way, which gives the same numbers to those who are met by that; and what one of them has found is told by names,
//! and taken over by who asked once it fails there, too. If it does not, or if one of them has found out that more must be told
//! apart, then all was in vain, and who asked has to look alone.

use std::{
    ops::ControlFlow,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use reenact_multiverse::explore::{Budget, Explorer, Progress, Run, Sampler, Step, Verdict};

use super::{Found, Hunt, Tried, after};
use crate::explore::{
    failure::Failure,
    follow::{Misfit, write_down},
    schedule::Schedule,
    subject::Subject,
};

/// Makes the program of a thread.
pub(super) type Make<'a, S> = dyn Fn() -> S + Sync + 'a;

/// A schedule that means the same to all: who, and in which of the ways it can go.
struct Named(Vec<(String, u32)>);

/// The first of what failed, by the number of its execution.
#[derive(Default)]
struct First(Mutex<Option<(u64, Named)>>);

impl First {
    fn add<S: Subject>(&self, subject: &S, number: u64, steps: &[Step]) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| number < *other) {
            let named = |step: &Step| (subject.name(step.activity), step.choice);
            *first = Some((number, Named(steps.iter().map(named).collect())));
        }
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
fn member<S: Subject>(make: &Make<'_, S>, most: usize) -> S {
    let subject = make();
    write_down(&subject, &[], most);
    subject
}

impl<S: Subject> Hunt<'_, S>
where
    S::Event: std::hash::Hash,
{
    /// Draws executions with all cores. Nothing if there is one, or if it was in vain.
    pub(super) fn sample_on_all(&mut self, sampler: Sampler<'_, S>) -> Option<Tried> {
        let make = self.crew?;
        let most = self.search.steps as usize;
        let (first, endless) = (First::default(), AtomicU64::new(0));
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        let sampler = sampler.progress(|progress| listener(&after(before, progress)));
        let report = sampler.run_on(
            self.search.cores,
            || member(make, most),
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

    /// Runs one execution of each class with all cores. Nothing if there is one, or if it was in vain.
    pub(super) fn exhaust_on_all(&mut self, budget: Budget) -> Option<Tried> {
        let make = self.crew?;
        let most = self.search.steps as usize;
        let (first, is_too_coarse) = (First::default(), AtomicBool::new(false));
        let listener = &mut *self.listener;
        let before = self.finding.executions;
        // Not the one that has been run before, which may have other numbers.
        let own = member(make, most);
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
                || member(make, most),
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
