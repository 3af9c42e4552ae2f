//! The report of an exploration that proceeds level by level.

use std::fmt;

use super::{Coverage, Progress};

/// What the levels count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// See [`Bounding::Preemptions`](super::Bounding::Preemptions).
    Preemptions,
    /// See [`Bounding::Delays`](super::Bounding::Delays).
    Delays,
    /// See [`Around`](super::Around).
    Changes,
}

/// The result of an exploration that proceeds level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradualReport {
    /// How far it got. Redundant executions are those that reached a known universe or class.
    pub progress: Progress,
    /// What the levels count.
    pub measure: Measure,
    /// Every class that has an execution with at most this many was run. `None` if not even level 0 is complete.
    pub all_up_to: Option<u32>,
    /// Whether there are no classes on higher levels.
    pub is_everything: bool,
    /// What stopped it, other than the bound.
    pub coverage: Coverage,
    /// The number of changes that should have been possible but were not: the program is not deterministic, and part of
    /// its behaviour has not been seen.
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
