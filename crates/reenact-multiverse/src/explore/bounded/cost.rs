//! What makes an execution less simple.

use crate::{Activity, explore::Measure};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bounding {
    /// Switches away from an activity that could go on.
    Preemptions,
    /// Deviations from a scheduler that lets each activity go on as long as it can, and then takes the next in the order
    /// of their numbers, round and round. Passing over one of them is one delay.
    Delays,
}

impl Bounding {
    /// Puts those who can go on, which come in the order of their numbers, into the order in which they are tried.
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

    /// What it costs to take the one at this position.
    pub(super) fn cost(self, position: usize, enabled: &[Activity], last: Option<Activity>) -> u32 {
        match self {
            Bounding::Preemptions => {
                u32::from(position > 0 && last.is_some() && enabled.first().copied() == last)
            }
            Bounding::Delays => position as u32,
        }
    }

    /// Whom later costs depend on, besides the universe.
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
