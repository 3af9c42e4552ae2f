//! What a bounded exploration counts.

use crate::{Activity, Measure};

/// What a bounded exploration counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bounding {
    /// Switches away from an activity that is enabled.
    Preemptions,
    /// Deviations from a round-robin scheduler that runs each activity as long as it is enabled and then continues with
    /// the next in the order of their numbers. Passing over one activity is one delay.
    Delays,
}

impl Bounding {
    /// Sorts the enabled activities, given in the order of their numbers, into the order in which they are tried.
    pub(super) fn sort(self, enabled: &mut [Activity], last: Option<Activity>) {
        let Some(last) = last else { return };
        match self {
            Bounding::Preemptions => {
                if let Ok(position) = enabled.binary_search(&last) {
                    enabled[..=position].rotate_right(1);
                }
            }
            Bounding::Delays => {
                let next = enabled.partition_point(|&activity| activity < last);
                enabled.rotate_left(next);
            }
        }
    }

    /// The cost of choosing the activity at this position.
    pub(super) fn cost(self, position: usize, enabled: &[Activity], last: Option<Activity>) -> u32 {
        match self {
            Bounding::Preemptions => {
                u32::from(position > 0 && last.is_some() && enabled.first().copied() == last)
            }
            Bounding::Delays => position as u32,
        }
    }

    /// The activity that later costs depend on, besides the universe.
    pub(super) fn current(self, enabled: &[Activity], last: Option<Activity>) -> Option<Activity> {
        let first = enabled.first().copied();
        match self {
            Bounding::Preemptions => first.filter(|_| first == last),
            Bounding::Delays => first,
        }
    }

    pub(super) fn measure(self) -> Measure {
        match self {
            Bounding::Preemptions => Measure::Preemptions,
            Bounding::Delays => Measure::Delays,
        }
    }
}
