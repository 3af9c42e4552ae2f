//! Who can go on.

use super::random::Random;
use crate::{Activity, explore::Run};

/// Room for those who can go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Enabled(Vec<Activity>);

/// So many times, one is drawn of all in the hope that it can go on, before everyone is asked.
pub(super) const TRIES: u32 = 4;

impl Enabled {
    /// Those who can go on. Who it is cannot be foreseen, so there is no branch on it.
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

    /// Any of those who can go on, each as likely as the others. To draw of all until it is one of them does the same as
    /// to draw of them, and asks few.
    #[inline]
    pub(super) fn any(&mut self, run: &impl Run, random: &mut Random) -> Option<Activity> {
        let about_to_act = run.about_to_act();
        let all = about_to_act.map_or(run.activities().into(), |all| all.len() as u64);
        if all == 0 {
            return None;
        }
        for _ in 0..TRIES {
            let at = random.below(all);
            let activity = match about_to_act {
                Some(all) => all[at as usize],
                None => Activity(at as u32),
            };
            if run.is_enabled(activity) {
                return Some(activity);
            }
        }
        let enabled = self.of(run);
        let at = random.below(enabled.len() as u64) as usize;
        enabled.get(at).copied()
    }
}
