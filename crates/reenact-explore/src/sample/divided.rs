//! Divides the executions among processes, each a copy of the original one.

use super::{Sampler, draws::LEARNED_FROM, nothing};
use crate::{Limit, Part, Progress, Report, Runs, Seen};

impl<R: Runs> Sampler<'_, R> {
    /// Draws the executions that strategies learn from, calls `divide` to create copies of this process, and draws this
    /// process's share of the executions. The report, and what is passed to `visit`, covers only this process.
    pub fn run_divided<'p>(
        mut self,
        divide: impl FnOnce() -> Part<'p>,
        mut visit: impl FnMut(&Seen<'_, R>),
    ) -> Report {
        let mut draws = self.draws();
        let mut report = nothing();
        self.draw_until(LEARNED_FROM, &mut draws, &mut report, &mut visit);
        if report.progress.executions < LEARNED_FROM {
            return report;
        }
        let Part { is_first, tally } = divide();
        match is_first {
            true => drop(tally.count(LEARNED_FROM)),
            false => report = nothing(),
        }
        let end = self
            .budget_tracker
            .budget
            .executions
            .take()
            .unwrap_or(u64::MAX);
        while !tally.is_over() {
            let number = LEARNED_FROM.saturating_add(tally.take(1));
            if number >= end {
                report.coverage.stop(Limit::Executions(end));
                break;
            }
            let all = Progress {
                executions: tally.executions(),
                ..report.progress
            };
            let limit = match self.budget_tracker.limit(0, || all) {
                None => {
                    tally.count(1);
                    draws.draw(
                        self.runs,
                        number,
                        &self.budget_tracker,
                        &mut report,
                        &mut visit,
                    )
                }
                limit => limit,
            };
            if let Some(limit) = limit {
                report.coverage.stop(limit);
                tally.end();
            }
        }
        report
    }
}
