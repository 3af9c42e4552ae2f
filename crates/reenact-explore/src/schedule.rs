//! Properties of schedules: their number of switches, and whether they fit a program.

use super::{Divergence, Run, Runs, Step, can_be_taken};

/// The number of switches from one activity to another.
pub fn switches(schedule: &[Step]) -> usize {
    let pairs = schedule.windows(2);
    pairs
        .filter(|pair| pair[0].activity != pair[1].activity)
        .count()
}

/// Returns whether the step can be taken now.
pub(super) fn is_possible(run: &impl Run, step: Step) -> bool {
    run.is_enabled(step.activity) && step.choice < run.choices(step.activity)
}

/// Runs the program under a schedule, up to the end of the schedule.
pub fn replay<R: Runs>(runs: &R, schedule: &[Step]) -> Result<R::Run, Divergence> {
    let mut run = runs.start();
    for (index, &step) in schedule.iter().enumerate() {
        can_be_taken(&run, step).map_err(|found| Divergence::at_step(index, step, found))?;
        run.step(step);
    }
    Ok(run)
}
