//! Entities that know with what their operations race.
//!
//! Each keeps the moments of the operations that a next one would be ordered after, and nothing of what the operations
//! do: a variable has its value elsewhere. Before a step, `link_…` tells; with the step, the other function of that name
//! takes note. What a step turns out to do is for the caller to say, by the functions it calls.
//!
//! An operation that may fail, such as to try a lock, is pending as one that depends on all that can make it fail or
//! succeed. If it succeeds, it is in hindsight the same as one that does not fail. If it fails, it has only looked.

mod accesses;
mod conditions;
mod facts;
mod holding;
mod passing;
mod sharing;

pub use self::{
    accesses::Accesses, conditions::Conditions, facts::Facts, holding::Holding, passing::Passing,
    sharing::Sharing,
};
use super::{Links, Moment};
use crate::Activity;

/// The last of some operations that commute, of each activity.
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
