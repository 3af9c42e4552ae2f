//! Where a program does something other than what was expected of it.
//!
//! All of exploration expects something: that a repeated step does the same again, that a schedule fits the program, that
//! a recorded run can be had once more. There is one type for all of these, so that whoever finds a divergence can hand
//! it on as it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Activity, Run, Step};

/// The program did something other than what was expected of it.
///
/// If only an exploration has run it before, its behaviour depends on more than the order of its steps, such as the time
/// or addresses, so no exploration of it can be complete. If the expectation comes from a file, the program may have
/// changed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// Where that was.
    pub point: DivergencePoint,
    /// What was expected.
    pub expected: String,
    /// What was found instead.
    pub found: String,
}

/// Where a program [diverges](Divergence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DivergencePoint {
    /// At a step of a schedule. The value is the number of steps before it.
    Step(usize),
    /// At an operation of a recorded run, counted from 1.
    Operation(usize),
    /// After all that was expected before the end.
    End,
}

impl Divergence {
    /// The step at `index` did not perform `event`.
    pub fn at_event(index: usize, step: Step, event: &dyn fmt::Debug, found: String) -> Divergence {
        Divergence {
            point: DivergencePoint::Step(index),
            expected: format!("{event:?} of activity {}", step.activity.0),
            found,
        }
    }

    /// The step at `index` could not be taken.
    pub fn at_step(index: usize, step: Step, found: String) -> Divergence {
        let Step {
            activity: Activity(activity),
            choice,
        } = step;
        Divergence {
            point: DivergencePoint::Step(index),
            expected: format!("choice {choice} of activity {activity}"),
            found,
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence {
            point,
            expected,
            found,
        } = self;
        match point {
            DivergencePoint::Step(index) => {
                let number = index + 1;
                write!(
                    out,
                    "step {number} of the schedule, {expected}, does not fit: {found}"
                )
            }
            DivergencePoint::Operation(number) => {
                write!(out, "operation {number}, {expected}, does not fit: {found}")
            }
            DivergencePoint::End => write!(out, "{expected}, but here {found}"),
        }
    }
}

impl std::error::Error for Divergence {}

/// Checks that a step can be taken. The error describes what the activity is about to do instead.
#[inline]
pub fn can_be_taken<R: Run + ?Sized>(run: &R, step: Step) -> Result<(), String>
where
    R::Event: fmt::Debug,
{
    let Step { activity, choice } = step;
    if !run.is_enabled(activity) {
        return Err(not_enabled(run.pending(activity)));
    }
    if choice > 0 && run.choices(activity) <= choice {
        return Err(format!("there is no choice {choice}"));
    }
    Ok(())
}

#[cold]
fn not_enabled(pending: Option<impl fmt::Debug>) -> String {
    match pending {
        Some(event) => format!("it waits for {event:?}"),
        None => "it has nothing to do".to_owned(),
    }
}
