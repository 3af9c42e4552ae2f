//! Simplifies a schedule while keeping its failure.
//!
//! A failure needs a few switches at the right places, while a schedule that was found at random has many anywhere.
//! Minimisation has three phases. First, the schedule is rewritten with as few switches as its class allows, which does
//! not change the execution. Then blocks of steps of one activity are removed or merged, and the resulting execution is
//! kept if it fails in the same way with fewer switches. Finally, as much as possible of the end is left unforced: the
//! forced steps end where the failure has become certain.
//!
//! The result cannot be simplified further by these means. It need not be the simplest schedule there is.

mod attempt;

use std::time::Instant;

use self::attempt::Attempt;
use super::{Divergence, Runs, Step, Verdict, follow::follow, schedule::switches};

/// Default maximum number of runs.
const RUNS: u64 = 1000;

/// A minimisation of a schedule.
///
/// ```text
/// let minimal = Minimiser::of(&program, &schedule)
///     .runs(500)
///     .find(|run, verdict| verdict == Verdict::Deadlock)?;
/// ```
pub struct Minimiser<'a, R> {
    runs: &'a R,
    schedule: &'a [Step],
    most_runs: u64,
    until: Option<Instant>,
}

/// A simple schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The steps, to the end of the run. They were taken, and the run failed in the same way.
    pub schedule: Vec<Step>,
    /// How many of the steps have to be forced. After these, the last activity continues as long as it can, and then
    /// always the enabled one with the lowest number.
    pub forced: usize,
    /// The number of switches from one activity to another.
    pub switches: usize,
    /// The number of runs needed to find it.
    pub runs: u64,
}

/// Why a schedule cannot be simplified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MinimiseError {
    /// It is not a schedule of this program.
    #[error(transparent)]
    Divergence(#[from] Divergence),
    /// The run does not satisfy the predicate.
    #[error("the schedule leads to an end, but not to the one that is looked for")]
    Other,
}

impl<'a, R: Runs> Minimiser<'a, R> {
    /// Simplifies this schedule. If it ends before the program does, the last activity continues as long as it can, and
    /// then always the enabled one with the lowest number.
    pub fn of(runs: &'a R, schedule: &'a [Step]) -> Self {
        Minimiser {
            runs,
            schedule,
            most_runs: RUNS,
            until: None,
        }
    }

    /// Sets the maximum number of runs, which has to suffice for the given schedule and its rewritten form.
    pub fn runs(mut self, most: u64) -> Self {
        self.most_runs = most;
        self
    }

    /// Makes no further attempt after this point in time.
    pub fn until(mut self, until: Option<Instant>) -> Self {
        self.until = until;
        self
    }

    /// Finds the simplest schedule it can whose run satisfies `is_same`.
    pub fn find(
        self,
        is_same: impl Fn(&R::Run, Verdict) -> bool,
    ) -> Result<Minimal, MinimiseError> {
        let given = follow(self.runs, self.schedule, &[], usize::MAX, |_, _, _| ())?;
        if !is_same(&given.run, given.verdict) {
            return Err(MinimiseError::Other);
        }
        let event_log = given.event_log;
        // Only one run may exist at a time.
        drop(given.run);
        let mut attempt = Attempt {
            runs: self.runs,
            is_same,
            // Steps may repeat until something changes, so a run under a changed schedule may never end.
            most_steps: 2 * event_log.schedule().len() + 64,
            left: self.most_runs.saturating_sub(1),
            until: self.until,
            best: event_log.schedule().to_vec(),
        };
        attempt.accept(&event_log);
        attempt.leave_out();
        while attempt.put_together() {}
        let forced = attempt.shorten();
        Ok(Minimal {
            forced,
            switches: switches(&attempt.best),
            runs: self.most_runs - attempt.left,
            schedule: attempt.best,
        })
    }
}
