//! Objects that know which operations race with each other.
//!
//! Each keeps the moments of the operations that the next operation would be ordered after, and nothing of what
//! operations do: the value of a variable is stored elsewhere. Before a step, `link_…` adds the links; when the step is
//! taken, the function of the same name without the prefix records it. The caller states what a step turned out to do,
//! by the functions it calls.
//!
//! An operation that may fail, such as `try_lock`, is pending as an operation that depends on everything that can make
//! it fail or succeed. If it succeeds, it turns out to be the same as the operation that cannot fail. If it fails, it
//! turns out to be a mere read.

mod accesses;
mod conditions;
mod holding;
mod latches;
mod passing;
mod sharing;

pub use self::{
    accesses::Accesses, conditions::Conditions, holding::Holding, latches::Latches,
    passing::Passing, sharing::Sharing,
};
use super::{Links, Moment};
use crate::Activity;

/// The last of some commuting operations of each activity.
#[derive(Clone, Debug, Default)]
struct Latest {
    moments: Vec<(Activity, Moment)>,
}

impl Latest {
    fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    fn set(&mut self, activity: Activity, moment: Moment) {
        match self.moments.iter_mut().find(|(who, _)| *who == activity) {
            Some((_, last)) => *last = moment,
            None => self.moments.push((activity, moment)),
        }
    }

    fn get(&self, activity: Activity) -> Option<Moment> {
        let mut moments = self.moments.iter();
        moments
            .find(|(who, _)| *who == activity)
            .map(|&(_, moment)| moment)
    }

    fn clear(&mut self) {
        self.moments.clear();
    }

    fn link_races(&self, links: &mut Links) {
        for &(_, moment) in &self.moments {
            links.races(moment);
        }
    }
}
