//! The enabled activities.

use super::random::Random;
use crate::{Activity, Run};

/// A buffer for the enabled activities.
#[derive(Clone, Debug, Default)]
pub(super) struct Enabled(Vec<Activity>);

/// How many draws among all activities are tried before the enabled ones are listed.
pub(super) const TRIES: u32 = 4;

impl Enabled {
    /// Lists the enabled activities, without a branch, since which ones are enabled is not predictable.
    pub(super) fn of(&mut self, run: &impl Run) -> &[Activity] {
        let activities = run.activities();
        if self.0.len() < activities as usize {
            self.0.resize(activities as usize, Activity(0));
        }
        let mut count = 0;
        for activity in (0..activities).map(Activity) {
            self.0[count] = activity;
            count += usize::from(run.is_enabled(activity));
        }
        &self.0[..count]
    }

    /// Draws an enabled activity, all with equal probability. Rejection sampling among all activities gives the same
    /// distribution as drawing among the enabled ones, and calls `is_enabled` less often.
    #[inline]
    pub(super) fn any(&mut self, run: &impl Run, random: &mut Random) -> Option<Activity> {
        let all = run.candidates();
        if all == 0 {
            return None;
        }
        for _ in 0..TRIES {
            let activity = run.candidate(random.below(all.into()) as u32);
            if run.is_enabled(activity) {
                return Some(activity);
            }
        }
        let enabled = self.of(run);
        let at = random.below(enabled.len() as u64) as usize;
        enabled.get(at).copied()
    }
}
