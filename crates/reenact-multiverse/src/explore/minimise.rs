//! The simplest schedule that fails in the same way.
//!
//! What a failure needs is a few switches at the right places, and a schedule that was found by chance has many at any
//! place. Three things are done about it. The schedule is written down again with as few switches as its class allows,
//! which changes nothing. Then blocks of steps of one activity are left out or put together, and what the program does
//! then is kept if it fails in the same way with fewer switches. At last, as much as possible of the end is left to the
//! program itself: what has to be forced ends where the failure has become certain.
//!
//! What is found cannot be made simpler in any of these ways. It need not be the simplest there is.

mod attempt;

use self::attempt::Attempt;
use super::{Misfit, Runs, Step, Verdict, follow::follow, schedule::switches};

/// Runs, if nobody says how many.
const RUNS: u64 = 1000;

/// A schedule that is about to be made simpler.
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
}

/// A simple schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The steps, to the end of the run. They were taken, and the run failed in the same way.
    pub schedule: Vec<Step>,
    /// How many of them have to be forced. After these, the last activity goes on as long as it can, and then always the
    /// one with the lowest number.
    pub forced: usize,
    /// How often it goes from one activity to another.
    pub switches: usize,
    /// How many runs it took to find it.
    pub runs: u64,
}

/// Why a schedule cannot be made simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MinimiseError {
    /// It is not one of this program.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The run is not one that is looked for.
    #[error("the schedule leads to an end, but not to the one that is looked for")]
    Other,
}

impl<'a, R: Runs> Minimiser<'a, R> {
    /// A simpler schedule than this one. If it ends before the program does, the rest is left to the program.
    pub fn of(runs: &'a R, schedule: &'a [Step]) -> Self {
        Minimiser {
            runs,
            schedule,
            most_runs: RUNS,
        }
    }

    /// With no more than so many runs, which has to be enough to take the schedule and the one written down again.
    pub fn runs(mut self, most: u64) -> Self {
        self.most_runs = most;
        self
    }

    /// Finds the simplest schedule it can with which a run ends like this.
    pub fn find(
        self,
        is_same: impl Fn(&R::Run, Verdict) -> bool,
    ) -> Result<Minimal, MinimiseError> {
        let given = follow(self.runs, self.schedule, &[], usize::MAX, |_, _, _| ())?;
        if !is_same(&given.run, given.verdict) {
            return Err(MinimiseError::Other);
        }
        let chronicle = given.chronicle;
        // One run at a time.
        drop(given.run);
        let mut attempt = Attempt {
            runs: self.runs,
            is_same,
            // Steps may be repeated until something changes, so a run under a changed schedule may never end.
            most_steps: 2 * chronicle.schedule().len() + 64,
            left: self.most_runs.saturating_sub(1),
            best: chronicle.schedule().to_vec(),
        };
        attempt.accept(&chronicle);
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
