//! What can be said of an exploration that goes from the simple to the complicated, or from the near to the far.

use std::fmt;

use super::{Coverage, Progress};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// See [`Bounding::Preemptions`](super::Bounding::Preemptions).
    Preemptions,
    /// See [`Bounding::Delays`](super::Bounding::Delays).
    Delays,
    /// See [`Around`](super::Around).
    Changes,
}

/// What such an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradualReport {
    /// How far it came. Redundant executions are those that led to where another one had been.
    pub progress: Progress,
    /// What is counted.
    pub measure: Measure,
    /// Every class that has an execution with at most so many was run. `None`: not even those with none.
    pub all_up_to: Option<u32>,
    /// Whether there are no classes that take more.
    pub is_everything: bool,
    /// What it was stopped by, other than the bound.
    pub coverage: Coverage,
    /// What could not be done although nothing speaks against it: the program does not do the same twice, and some of it
    /// has not been seen.
    pub unfit: u64,
}

impl GradualReport {
    pub(super) fn new(measure: Measure) -> Self {
        GradualReport {
            progress: Progress::default(),
            measure,
            all_up_to: None,
            is_everything: false,
            coverage: Coverage::default(),
            unfit: 0,
        }
    }
}

impl fmt::Display for GradualReport {
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
        let (one, more) = match self.measure {
            Measure::Preemptions => ("preemption", "preemptions"),
            Measure::Delays => ("delay", "delays"),
            Measure::Changes => ("change", "changes"),
        };
        match self.all_up_to {
            _ if self.is_everything => write!(out, "complete"),
            Some(0) => write!(out, "all schedules without {more}"),
            Some(1) => write!(out, "all schedules with at most 1 {one}"),
            Some(most) => write!(out, "all schedules with at most {most} {more}"),
            None => write!(out, "not all schedules without {more}"),
        }?;
        if !self.coverage.is_complete() {
            write!(out, ", {}", self.coverage)?;
        }
        Ok(())
    }
}
