//! Executions drawn by several at once.
//!
//! Each has its own program, for programs are seldom made to be run by two at once. What one has learned, in the first
//! executions, all others know: which number has which schedule does not depend on how many there are. Who gets which
//! numbers does, and so does where they stop if they are to stop at a failure or after some time.

use std::{sync::Mutex, thread};

use super::{
    Sampler,
    lot::{LEARNED_FROM, Lot},
    nothing,
};
use crate::explore::{
    Limit, Report, Runs, Seen, Tally,
    pace::{Pace, sum},
};

/// So many numbers are taken at once.
const CHUNK: u64 = 64;

/// What the crew shares. What came of the executions is in the mutex.
struct Shared {
    tally: Tally,
    end: u64,
    report: Mutex<Report>,
}

impl<R: Runs> Sampler<'_, R> {
    /// Draws with as many threads as `cores`, each with a program of its own, and shows each execution to `visit`, with the
    /// program that it is one of.
    pub fn run_on(
        mut self,
        cores: usize,
        make: impl Fn() -> R + Sync,
        visit: impl Fn(&R, &Seen<'_, R>) + Sync,
    ) -> Report {
        let mut lot = self.lot();
        let mut report = nothing();
        let runs = self.runs;
        let mut shown = |seen: &Seen<'_, R>| visit(runs, seen);
        self.draw_until(LEARNED_FROM, &mut lot, &mut report, &mut shown);
        if report.progress.executions < LEARNED_FROM {
            return report;
        }
        let shared = Shared {
            tally: Tally::default(),
            end: self.pace.budget.executions.unwrap_or(u64::MAX),
            report: Mutex::new(report),
        };
        let stops_at_failure = self.pace.stops_at_failure;
        let steps = self.pace.budget.steps;
        thread::scope(|scope| {
            let learned = &lot;
            for _ in 1..cores {
                let (shared, make, visit) = (&shared, &make, &visit);
                scope.spawn(move || {
                    // By the thread itself: what it writes to is not to be beside what others write to.
                    let mut lot = learned.split();
                    let mut pace = Pace::default();
                    pace.stops_at_failure = stops_at_failure;
                    pace.budget.steps = steps;
                    shared.draw(&make(), &mut pace, &mut lot, visit);
                });
            }
            // This thread looks at the clock and at the budget for all.
            shared.draw(self.runs, &mut self.pace, &mut learned.split(), &visit);
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
        pace: &mut Pace<'_>,
        lot: &mut Lot,
        visit: &impl Fn(&R, &Seen<'_, R>),
    ) {
        // The executions are counted by taking numbers.
        pace.budget.executions = None;
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
                let limit = match pace.limit(&sum(&before, &report.progress)) {
                    None => lot.draw(runs, number, pace, &mut report, |seen| visit(runs, seen)),
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

    /// Adds what came of some executions to what came of all.
    fn add(&self, part: &Report) {
        let mut all = self.report.lock().expect("nobody panicked");
        all.progress = sum(&all.progress, &part.progress);
        for &limit in part.coverage.stopped_by() {
            all.coverage.stop(limit);
        }
    }
}
