//! Schedules as such: what they cost a reader, and whether they fit a program.

use super::{Run, Runs, Step};

/// How often a schedule goes from one activity to another.
pub fn switches(schedule: &[Step]) -> usize {
    let pairs = schedule.windows(2);
    pairs
        .filter(|pair| pair[0].activity != pair[1].activity)
        .count()
}

/// A schedule is not one of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {number} of the schedule, way {} of activity {}, cannot be taken", step.choice, step.activity.0)]
pub struct Misfit {
    /// Which step, from 0.
    pub number: usize,
    /// What it is.
    pub step: Step,
}

/// Whether the step can be taken now.
pub(super) fn is_possible(run: &impl Run, step: Step) -> bool {
    run.is_enabled(step.activity) && step.choice < run.choices(step.activity)
}

/// Runs the program under a schedule, up to where that ends.
pub fn replay<R: Runs>(runs: &R, schedule: &[Step]) -> Result<R::Run, Misfit> {
    let mut run = runs.start();
    for (number, &step) in schedule.iter().enumerate() {
        if !is_possible(&run, step) {
            return Err(Misfit { number, step });
        }
        run.step(step);
    }
    Ok(run)
}
