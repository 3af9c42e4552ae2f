//! Divides the executions among threads.
//!
//! Each thread has its own program, because programs are seldom made to be run by two threads at once. All threads
//! share what was learned in the first executions, so the schedule of an execution depends only on its number, not on
//! the number of threads. Which thread runs which numbers does depend on it, and so does the point at which they stop
//! at a failure or when the time is up.

use std::{sync::Mutex, thread};

use super::{
    Sampler,
    draws::{Draws, LEARNED_FROM},
    nothing,
};
use crate::{Limit, Report, Runs, Seen, Tally, budget_tracker::BudgetTracker};

/// How many numbers a thread takes at once.
const CHUNK: u64 = 64;

/// The state that the threads share. The mutex guards the results.
struct Shared {
    tally: Tally,
    end: u64,
    report: Mutex<Report>,
}

impl<R: Runs> Sampler<'_, R> {
    /// Draws with `cores` threads, each with its own program, and passes each execution to `visit`, with the program
    /// that it belongs to.
    pub fn run_on(
        mut self,
        cores: usize,
        make: impl Fn() -> R + Sync,
        visit: impl Fn(&R, &Seen<'_, R>) + Sync,
    ) -> Report {
        let mut draws = self.draws();
        let mut report = nothing();
        let runs = self.runs;
        let mut shown = |seen: &Seen<'_, R>| visit(runs, seen);
        self.draw_until(LEARNED_FROM, &mut draws, &mut report, &mut shown);
        if report.progress.executions < LEARNED_FROM {
            return report;
        }
        let shared = Shared {
            tally: Tally::default(),
            end: self.budget_tracker.budget.executions.unwrap_or(u64::MAX),
            report: Mutex::new(report),
        };
        let stops_at_failure = self.budget_tracker.stops_at_failure;
        let steps = self.budget_tracker.budget.steps;
        thread::scope(|scope| {
            let learned = &draws;
            for _ in 1..cores {
                let (shared, make, visit) = (&shared, &make, &visit);
                scope.spawn(move || {
                    // Created by the thread itself, so that its allocations do not share cache lines with those of
                    // other threads.
                    let mut draws = learned.split();
                    let mut budget_tracker = BudgetTracker {
                        stops_at_failure,
                        ..BudgetTracker::default()
                    };
                    budget_tracker.budget.steps = steps;
                    shared.draw(&make(), &mut budget_tracker, &mut draws, visit);
                });
            }
            // This thread checks the time and the budget for all.
            shared.draw(
                self.runs,
                &mut self.budget_tracker,
                &mut learned.split(),
                &visit,
            );
        });
        let mut report = shared.report.into_inner().expect("nobody panicked");
        if report.progress.executions >= shared.end {
            report.coverage.stop(Limit::Executions(shared.end));
        }
        report
    }
}

impl Shared {
    fn draw<R: Runs>(
        &self,
        runs: &R,
        budget_tracker: &mut BudgetTracker<'_>,
        draws: &mut Draws,
        visit: &impl Fn(&R, &Seen<'_, R>),
    ) {
        // Executions are limited by taking numbers instead.
        budget_tracker.budget.executions = None;
        loop {
            let start = LEARNED_FROM.saturating_add(self.tally.take(CHUNK));
            let numbers = start..self.end.min(start.saturating_add(CHUNK));
            if numbers.is_empty() || self.tally.is_over() {
                return;
            }
            let before = self.report.lock().expect("nobody panicked").progress;
            let mut report = nothing();
            for number in numbers {
                if self.tally.is_over() {
                    break;
                }
                let limit = match budget_tracker.limit(0, || before.plus(&report.progress)) {
                    None => draws.draw(runs, number, budget_tracker, &mut report, |seen| {
                        visit(runs, seen)
                    }),
                    limit => limit,
                };
                if let Some(limit) = limit {
                    report.coverage.stop(limit);
                    self.tally.end();
                    break;
                }
            }
            self.add(&report);
        }
    }

    /// Adds the results of some executions to the total.
    fn add(&self, part: &Report) {
        let mut all = self.report.lock().expect("nobody panicked");
        all.progress = all.progress.plus(&part.progress);
        for &limit in part.coverage.stopped_by() {
            all.coverage.stop(limit);
        }
    }
}
