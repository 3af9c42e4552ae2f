//! Properties of schedules: their number of switches, and whether they fit a program.

use super::{Run, Runs, Step};

/// The number of switches from one activity to another.
pub fn switches(schedule: &[Step]) -> usize {
    let pairs = schedule.windows(2);
    pairs
        .filter(|pair| pair[0].activity != pair[1].activity)
        .count()
}

/// A schedule does not fit this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {number} of the schedule, way {} of activity {}, cannot be taken", step.choice, step.activity.0)]
pub struct Misfit {
    /// The index of the first step that cannot be taken.
    pub number: usize,
    /// The step.
    pub step: Step,
}

/// Returns whether the step can be taken now.
pub(super) fn is_possible(run: &impl Run, step: Step) -> bool {
    run.is_enabled(step.activity) && step.choice < run.choices(step.activity)
}

/// Runs the program under a schedule, up to the end of the schedule.
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
