//! Stops an exploration when its budget is used up, and reports progress to the listener.

use super::{Budget, Interruption, Limit, Progress, ProgressReporter, Verdict};

/// Keeps an exploration within its budget and calls its progress listener.
#[derive(Default)]
pub(super) struct BudgetTracker<'a> {
    pub(super) budget: Budget,
    pub(super) stops_at_failure: bool,
    pub(super) reporter: ProgressReporter<'a, Progress>,
}

impl BudgetTracker<'_> {
    /// Returns why there must not be another execution after `started` of them, if so. The time budget starts with the
    /// first call, unless it has been started before. Calls `progress` only if a report is due.
    #[inline]
    pub(super) fn limit(
        &mut self,
        started: u64,
        progress: impl FnOnce() -> Progress,
    ) -> Option<Limit> {
        if let Some(most) = self.budget.executions
            && started >= most
        {
            return Some(Limit::Executions(most));
        }
        match self.reporter.check(self.budget.time, progress) {
            Ok(()) => None,
            Err(Interruption::Time(time)) => Some(Limit::Time(time)),
            Err(Interruption::Cancelled) => Some(Limit::Cancelled),
        }
    }

    /// Returns why an execution with this verdict is the last one, if it is.
    pub(super) fn stops_at(&self, verdict: Verdict) -> Option<Limit> {
        stop(verdict, self.stops_at_failure)
    }
}

/// Returns why an execution with this verdict is the last one, if it is.
pub(super) fn stop(verdict: Verdict, stops_at_failure: bool) -> Option<Limit> {
    match verdict {
        Verdict::Interrupted => Some(Limit::Interrupted),
        verdict if stops_at_failure && verdict.is_bad() => Some(Limit::Failure),
        _ => None,
    }
}
