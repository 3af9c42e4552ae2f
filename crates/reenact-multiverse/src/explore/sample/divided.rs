//! Executions drawn by several processes, each a copy of the one that began.

use super::{Sampler, lot::LEARNED_FROM, nothing};
use crate::explore::{Limit, Part, Progress, Report, Runs, Seen};

impl<R: Runs> Sampler<'_, R> {
    /// Draws what is learned from, lets `divide` make others of this process, and draws as many executions as come to each of
    /// them. What is returned, and shown to `visit`, is that of the process.
    pub fn run_divided<'p>(
        mut self,
        divide: impl FnOnce() -> Part<'p>,
        mut visit: impl FnMut(&Seen<'_, R>),
    ) -> Report {
        let mut lot = self.lot();
        let mut report = nothing();
        self.draw_until(LEARNED_FROM, &mut lot, &mut report, &mut visit);
        if report.progress.executions < LEARNED_FROM {
            return report;
        }
        let Part { is_first, tally } = divide();
        match is_first {
            true => drop(tally.count(LEARNED_FROM)),
            false => report = nothing(),
        }
        let end = self.pace.budget.executions.take().unwrap_or(u64::MAX);
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
            let limit = match self.pace.limit(&all) {
                None => {
                    tally.count(1);
                    lot.draw(self.runs, number, &self.pace, &mut report, &mut visit)
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
