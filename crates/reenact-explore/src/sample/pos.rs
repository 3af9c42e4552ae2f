//! Partial order sampling: each operation has a random priority.
//!
//! The operation with the highest priority goes first. Operations that race with it get a new priority, so which of
//! them is next is decided afresh; the priorities of operations that do not race, whose order makes no difference, stay
//! as they are.

use super::{chooser::Chooses, enabled::Enabled, random::Random};
use crate::{Activity, Run, Runs};

/// Priorities of pending operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Pos {
    /// By activity. 0 if not assigned yet.
    priorities: Vec<u64>,
}

impl Chooses for Pos {
    fn begin(&mut self, _run: &impl Run, _random: &mut Random) {
        self.priorities.clear();
    }

    fn choose<R: Runs>(
        &mut self,
        runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        let enabled = enabled.of(run);
        self.priorities.resize(run.activities() as usize, 0);
        let (mut chosen, mut highest) = (*enabled.first()?, 0);
        for &activity in enabled {
            let priority = &mut self.priorities[activity.0 as usize];
            if *priority == 0 {
                *priority = random.next() | 1;
            }
            if *priority > highest {
                (chosen, highest) = (activity, *priority);
            }
        }
        let event = run.pending(chosen);
        for &activity in enabled {
            let is_dependent = || match (&event, run.pending(activity)) {
                (Some(event), Some(other)) => runs.dependent(event, &other),
                _ => false,
            };
            if activity == chosen || is_dependent() {
                self.priorities[activity.0 as usize] = 0;
            }
        }
        Some(chosen)
    }
}
