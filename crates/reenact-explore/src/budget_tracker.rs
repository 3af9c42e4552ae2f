//! Stops an exploration when its budget is used up, and reports progress to the listener.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{Budget, Limit, Progress, Verdict};

const REPORT_EVERY: Duration = Duration::from_millis(20);

pub(super) type Listener<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// Keeps an exploration within its budget and calls its progress listener.
#[derive(Default)]
pub(super) struct BudgetTracker<'a> {
    pub(super) budget: Budget,
    pub(super) stops_at_failure: bool,
    pub(super) listener: Option<Box<Listener<'a>>>,
    began: Option<Instant>,
    told: Option<Instant>,
}

impl BudgetTracker<'_> {
    /// Returns why there must not be another execution, if so. The time budget starts with the first call.
    #[inline]
    pub(super) fn limit(&mut self, done: &Progress) -> Option<Limit> {
        if let Some(most) = self.budget.executions
            && done.executions + done.redundant >= most
        {
            return Some(Limit::Executions(most));
        }
        if self.budget.time.is_none() && self.listener.is_none() {
            return None;
        }
        self.look_up(done)
    }

    fn look_up(&mut self, done: &Progress) -> Option<Limit> {
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        if let Some(time) = self.budget.time
            && now - began >= time
        {
            return Some(Limit::Time(time));
        }
        if let Some(listener) = &mut self.listener
            && self.told.is_none_or(|told| now - told >= REPORT_EVERY)
        {
            self.told = Some(now);
            if listener(*done).is_break() {
                return Some(Limit::Cancelled);
            }
        }
        None
    }

    /// Returns whether an execution with this verdict is the last one.
    pub(super) fn stops_at(&self, verdict: Verdict) -> bool {
        self.stops_at_failure && verdict.is_bad()
    }
}

/// Counts an execution with this verdict.
pub(super) fn count(done: &mut Progress, verdict: Verdict) {
    done.executions += 1;
    done.deadlocks += u64::from(verdict == Verdict::Deadlock);
    done.failures += u64::from(verdict == Verdict::Failed);
}

/// Adds up the progress of two parts of the same exploration.
pub(super) fn sum(a: &Progress, b: &Progress) -> Progress {
    Progress {
        executions: a.executions + b.executions,
        redundant: a.redundant + b.redundant,
        deadlocks: a.deadlocks + b.deadlocks,
        failures: a.failures + b.failures,
        steps: a.steps + b.steps,
        repeated: a.repeated + b.repeated,
        estimate: None,
    }
}
