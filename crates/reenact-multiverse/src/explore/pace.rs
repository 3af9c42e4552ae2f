//! When to stop, and when to tell how far it is.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{Budget, Limit, Progress, Verdict};

const REPORT_EVERY: Duration = Duration::from_millis(20);

pub(super) type Listener<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// What keeps something that runs a program many times from doing so for ever.
#[derive(Default)]
pub(super) struct Pace<'a> {
    pub(super) budget: Budget,
    pub(super) stops_at_failure: bool,
    pub(super) listener: Option<Box<Listener<'a>>>,
    began: Option<Instant>,
    told: Option<Instant>,
}

impl Pace<'_> {
    /// Why there must not be another execution. The time begins to count when this is asked for the first time.
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

    /// Whether an execution that ended like this is the last one.
    pub(super) fn stops_at(&self, verdict: Verdict) -> bool {
        self.stops_at_failure && verdict.is_bad()
    }
}

/// An execution with this verdict is one more.
pub(super) fn count(done: &mut Progress, verdict: Verdict) {
    done.executions += 1;
    done.deadlocks += u64::from(verdict == Verdict::Deadlock);
    done.failures += u64::from(verdict == Verdict::Failed);
}

/// The numbers of two parts of the same work.
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
