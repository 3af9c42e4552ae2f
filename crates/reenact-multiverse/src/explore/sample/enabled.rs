//! Who can go on.

use super::random::Random;
use crate::{Activity, explore::Run};

/// The place of the bit that so many others are below.
#[inline]
fn nth(mut bits: u64, below: u32) -> u32 {
    for _ in 0..below {
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}

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
        let activities = run.activities();
        let about_to = run.about_to() & u64::MAX.checked_shr(64 - activities.min(64)).unwrap_or(0);
        let few = u64::from(about_to.count_ones());
        let (all, is_few) = match activities {
            0..=64 => (few, true),
            _ => (activities.into(), false),
        };
        for _ in 0..if all > 0 { TRIES } else { 0 } {
            let at = random.below(all) as u32;
            let activity = Activity(if is_few { nth(about_to, at) } else { at });
            if run.is_enabled(activity) {
                return Some(activity);
            }
        }
        let enabled = self.of(run);
        let at = random.below(enabled.len() as u64) as usize;
        enabled.get(at).copied()
    }
}
