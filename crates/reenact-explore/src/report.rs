//! Progress, coverage and result of an exploration.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::Divergence;

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// All activities ended.
    Finished,
    /// Some activities wait and none can continue.
    Deadlock,
    /// An activity failed, see [`Run::verdict`](super::Run::verdict).
    Failed,
    /// It reached the maximum number of steps.
    Cut,
    /// It could not be continued: its time was up, or it did something that cannot be explored. It says nothing about
    /// the program, and no further execution is run.
    Interrupted,
}

impl Verdict {
    /// Returns whether this is a failure or a deadlock.
    pub fn is_bad(self) -> bool {
        matches!(self, Verdict::Deadlock | Verdict::Failed)
    }
}

/// Limits of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of executions.
    pub executions: Option<u64>,
    /// Maximum number of steps of an execution.
    pub steps: Option<u32>,
    /// Maximum time, checked between executions.
    pub time: Option<Duration>,
}

/// Why an exploration is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The maximum number of executions was reached.
    Executions(u64),
    /// An execution reached the maximum number of steps.
    Steps(u32),
    /// The time was up.
    Time(Duration),
    /// It stopped at the first failure or deadlock.
    Failure,
    /// The progress listener cancelled it.
    Cancelled,
    /// A planned step could not be taken. This happens where several other activities together decide whether an
    /// activity is enabled, as with select on rendezvous channels: the alternatives are then unknown.
    Unreached,
    /// The program behaved differently under the same steps, see [`Report::divergence`].
    Divergence,
    /// An execution was [interrupted](Verdict::Interrupted).
    Interrupted,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Executions(1) => write!(out, "after 1 execution"),
            Limit::Executions(executions) => write!(out, "after {executions} executions"),
            Limit::Steps(1) => write!(out, "after 1 step of an execution"),
            Limit::Steps(steps) => write!(out, "after {steps} steps of an execution"),
            Limit::Time(time) => write!(out, "after {time:?}"),
            Limit::Failure => write!(out, "at the first failure"),
            Limit::Cancelled => write!(out, "when it was cancelled"),
            Limit::Unreached => write!(out, "where a planned step was not possible"),
            Limit::Divergence => write!(out, "when the program behaved differently"),
            Limit::Interrupted => write!(out, "when an execution was interrupted"),
        }
    }
}

/// How much of a program's behaviour an exploration has covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub(super) stopped_by: Vec<Limit>,
}

impl Coverage {
    /// Returns whether every class of executions was run to its end.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_empty()
    }

    /// The limits that stopped the exploration.
    pub fn stopped_by(&self) -> &[Limit] {
        &self.stopped_by
    }

    /// Notes that this limit stopped the exploration.
    pub fn stop(&mut self, limit: Limit) {
        if !self.stopped_by.contains(&limit) {
            self.stopped_by.push(limit);
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return write!(out, "complete");
        }
        for (number, limit) in self.stopped_by.iter().enumerate() {
            let before = if number == 0 { "stopped " } else { " and " };
            write!(out, "{before}{limit}")?;
        }
        Ok(())
    }
}

/// The progress of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Executions that were run to their end, or until they reached the maximum number of steps.
    pub executions: u64,
    /// Executions that were abandoned because they were equivalent to another one. There are none if all operations do
    /// what they announced and the number of steps is not limited.
    pub redundant: u64,
    /// Deadlocks among the executions.
    pub deadlocks: u64,
    /// Failures among the executions.
    pub failures: u64,
    /// Steps taken for the first time.
    pub steps: u64,
    /// Steps taken again to get back to a point where something else was to be tried.
    pub repeated: u64,
    /// Estimated total number of executions, if known.
    ///
    /// Assumes that all steps known to be tried at a point lead to the same number of executions, as Knuth's estimate
    /// of the size of a tree does, and grows as more steps become known: a hint whether to wait for minutes or for
    /// years. At the end it equals the number of executions that were run.
    pub estimate: Option<u64>,
}

impl Progress {
    /// The number of executions that were started.
    pub(super) fn started(&self) -> u64 {
        self.executions + self.redundant
    }

    /// Counts an execution with this verdict, unless it was interrupted.
    pub(super) fn count(&mut self, verdict: Verdict) {
        self.executions += u64::from(verdict != Verdict::Interrupted);
        self.deadlocks += u64::from(verdict == Verdict::Deadlock);
        self.failures += u64::from(verdict == Verdict::Failed);
    }

    /// Adds up the progress of two parts of the same exploration. There is no estimate for both.
    pub(super) fn plus(&self, other: &Progress) -> Progress {
        Progress {
            executions: self.executions + other.executions,
            redundant: self.redundant + other.redundant,
            deadlocks: self.deadlocks + other.deadlocks,
            failures: self.failures + other.failures,
            steps: self.steps + other.steps,
            repeated: self.repeated + other.repeated,
            estimate: None,
        }
    }
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How far the exploration got.
    pub progress: Progress,
    /// Whether the exploration is complete.
    pub coverage: Coverage,
    /// The divergence that stopped the exploration.
    pub divergence: Option<Divergence>,
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress {
            executions,
            deadlocks,
            failures,
            ..
        } = self.progress;
        write!(
            out,
            "{executions} executions, {deadlocks} deadlocks, {failures} failures; {}",
            self.coverage
        )?;
        match &self.divergence {
            Some(divergence) => write!(out, ": {divergence}"),
            None => Ok(()),
        }
    }
}
