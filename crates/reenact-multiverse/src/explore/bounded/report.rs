//! What an exploration of simple executions can say.

use std::{fmt, hash::Hash};

use super::{cost::Bounding, course::Course};
use crate::explore::{Coverage, Limit, Progress, Runs};

/// What an exploration of simple executions found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedReport {
    /// How far it came. Redundant executions are those that led to a universe that another one had been in.
    pub progress: Progress,
    /// What is counted.
    pub bounding: Bounding,
    /// Every class that has an execution with at most so many was run. `None`: not even those with none.
    pub all_up_to: Option<u32>,
    /// Whether there are no executions with more.
    pub is_everything: bool,
    /// What it was stopped by, other than the bound.
    pub coverage: Coverage,
}

impl BoundedReport {
    pub(super) fn new(bounding: Bounding) -> Self {
        BoundedReport {
            progress: Progress::default(),
            bounding,
            all_up_to: None,
            is_everything: false,
            coverage: Coverage::default(),
        }
    }

    /// The exploration has come to its end.
    pub(super) fn finish<R: Runs<Event: Hash>>(&mut self, course: &Course<'_, R>) {
        self.progress = course.done;
        if let Some(most) = course.cut_at() {
            self.coverage.stop(Limit::Steps(most));
            return;
        }
        self.all_up_to = course.all_up_to();
        self.is_everything = course.is_everything();
    }
}

impl fmt::Display for BoundedReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress {
            executions,
            deadlocks,
            failures,
            ..
        } = self.progress;
        write!(
            out,
            "{executions} executions, {deadlocks} deadlocks, {failures} failures; "
        )?;
        match self.all_up_to {
            _ if self.is_everything => write!(out, "complete"),
            Some(0) => write!(out, "all schedules without {}", self.bounding.name(0)),
            Some(most) => {
                let name = self.bounding.name(most);
                write!(out, "all schedules with at most {most} {name}")
            }
            None => write!(out, "not all schedules without {}", self.bounding.name(0)),
        }?;
        if !self.coverage.is_complete() {
            write!(out, ", {}", self.coverage)?;
        }
        Ok(())
    }
}
