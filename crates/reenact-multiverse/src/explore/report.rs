//! How an exploration ended, and how far it is.

use std::{fmt, time::Duration};

use super::Step;
use crate::Activity;

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// All activities ended.
    Finished,
    /// Some wait for ever.
    Deadlock,
    /// Something went wrong, see [`Run::verdict`](super::Run::verdict).
    Failed,
    /// It had more steps than the budget allows.
    Cut,
}

impl Verdict {
    /// Whether it is one to stop at: a failure or a deadlock.
    pub fn is_bad(self) -> bool {
        matches!(self, Verdict::Deadlock | Verdict::Failed)
    }
}

/// Where an exploration is to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// No more executions than this.
    pub executions: Option<u64>,
    /// No more steps in an execution than this.
    pub steps: Option<u32>,
    /// No longer than this. It is looked at between executions.
    pub time: Option<Duration>,
}

/// What kept an exploration from being complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many executions.
    Executions(u64),
    /// So many steps in an execution.
    Steps(u32),
    /// So much time.
    Time(Duration),
    /// It was to stop at the first failure or deadlock.
    Failure,
    /// Whoever listened said so.
    Cancelled,
    /// Something that was to be tried could not be brought about. That happens where whether somebody can go on depends on several
    /// others, as with those who select at channels without room: what could have been instead is not known.
    Unreached,
    /// The program did something else under the same steps, see [`Report::divergence`].
    Divergence,
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
            Limit::Cancelled => write!(out, "when told to"),
            Limit::Unreached => write!(out, "where something to be tried could not be had"),
            Limit::Divergence => write!(out, "when the program did not do the same again"),
        }
    }
}

/// What an exploration has seen of what there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub(super) stopped_by: Vec<Limit>,
}

impl Coverage {
    /// Whether every class of executions was run to its end.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_empty()
    }

    /// What it was stopped by.
    pub fn stopped_by(&self) -> &[Limit] {
        &self.stopped_by
    }

    /// It was stopped by this, too.
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

/// How far an exploration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Executions that were run to their end, or to that of the budget.
    pub executions: u64,
    /// Executions that were given up because another one was equivalent. There are none if all operations do what they
    /// were announced to do and executions are not bounded in steps.
    pub redundant: u64,
    /// Deadlocks among the executions.
    pub deadlocks: u64,
    /// Failures among the executions.
    pub failures: u64,
    /// Steps taken for the first time.
    pub steps: u64,
    /// Steps taken again to get back to where something else was to be tried.
    pub repeated: u64,
    /// How many executions there will be in all. `None`: there is nothing to tell it by yet.
    ///
    /// It supposes that all steps known to be tried at a point lead to equally many executions, as Knuth's estimate of the
    /// size of a tree does, and grows when more become known: a hint whether to wait for minutes or for years. At the end
    /// it is the number of those that were made.
    pub estimate: Option<u64>,
}

/// A program did something else under the same steps. What it does depends on more than their order, on the time perhaps
/// or on addresses, and no exploration of it can be complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How many steps went before.
    pub index: usize,
    /// The step in question.
    pub step: Step,
    /// What it was to do.
    pub expected: String,
    /// What it did, or was about to do without being able to.
    pub found: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence {
            index,
            step,
            expected,
            found,
        } = self;
        let Activity(activity) = step.activity;
        write!(
            out,
            "step {index}, of activity {activity}, was to be {expected} and is {found}"
        )
    }
}

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How far it came.
    pub progress: Progress,
    /// Whether that is all.
    pub coverage: Coverage,
    /// Where it had to stop because the program did not do the same again.
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
