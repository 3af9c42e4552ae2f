//! A view of an execution while all activities wait.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    actor::{Actor, Phase},
    state::State,
};
use crate::{
    explore::{
        event::About,
        failure::{Failure, Panic},
        names::Families,
    },
    site::Site,
};

/// An execution, for display.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::explore) struct View {
    /// By number.
    pub(in crate::explore) activities: Vec<ActivityView>,
    pub(in crate::explore) objects: Vec<Held>,
    /// The watched values of the program, with their names.
    pub(in crate::explore) watched: Vec<(String, String)>,
    pub(in crate::explore) failures: Vec<Failure>,
}

/// An activity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::explore) struct ActivityView {
    /// The name that the program gave it, or an empty string.
    pub(in crate::explore) name: String,
    pub(in crate::explore) status: ActivityPhase,
    /// Its last panic, whether it was observed or not.
    pub(in crate::explore) panic: Option<Panic>,
    /// The other activity of its pending operation.
    pub(in crate::explore) with: Option<u32>,
    /// Messages that were sent to it and not handled, and the one that it handles now.
    pub(in crate::explore) inbox: Vec<Arc<About>>,
    pub(in crate::explore) turn: Option<Arc<About>>,
    /// Its state when it was last outside a turn.
    pub(in crate::explore) shown: Option<String>,
}

/// The status of an activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::explore) enum ActivityPhase {
    /// It does not exist in this execution; another execution had one with this number.
    NotStarted,
    /// It is about to perform an operation.
    Pending,
    /// It waits for this, which is not an operation.
    Waits(String),
    Ended,
}

/// An object that is held or waited for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::explore) struct Held {
    pub(in crate::explore) object: u32,
    /// The activity that has acquired it, and where.
    pub(in crate::explore) holder: Option<(u32, String)>,
    pub(in crate::explore) sharers: Vec<u32>,
    pub(in crate::explore) waiters: Vec<u32>,
}

impl State {
    /// Returns the view without the watched values.
    pub(in crate::explore) fn view(&self) -> View {
        let actors = self.actors[..self.born as usize].iter();
        let objects = (0..).zip(&self.objects).map(|(object, state)| Held {
            object,
            holder: state
                .holder
                .map(|(who, at)| (who, Site::text(Site::announced(at)))),
            sharers: sorted(&state.sharers),
            waiters: sorted(&state.waiters),
        });
        View {
            activities: actors.map(|actor| view_of(actor, &self.families)).collect(),
            objects: objects.filter(Held::is_held).collect(),
            watched: Vec::new(),
            failures: self.failures(),
        }
    }
}

impl Held {
    fn is_held(&self) -> bool {
        self.holder.is_some() || !self.sharers.is_empty() || !self.waiters.is_empty()
    }
}

/// Returns the numbers in an order that does not depend on the order of arrival.
fn sorted(who: &[u32]) -> Vec<u32> {
    let mut who = who.to_vec();
    who.sort_unstable();
    who
}

fn view_of(actor: &Actor, families: &Families) -> ActivityView {
    ActivityView {
        name: actor.name.clone(),
        panic: actor.panic.clone(),
        with: actor.pending().and_then(|pending| pending.special.with),
        inbox: actor.inbox.iter().cloned().collect(),
        turn: actor.turn.clone(),
        shown: actor.shown.clone(),
        status: match &actor.phase {
            Phase::NotStarted => ActivityPhase::NotStarted,
            Phase::Pending => ActivityPhase::Pending,
            Phase::Parked(_, awaited) => ActivityPhase::Waits(families.describe(awaited)),
            Phase::Runs | Phase::Blocked(_) => {
                ActivityPhase::Waits("something other than an operation".to_owned())
            }
            Phase::Ended => ActivityPhase::Ended,
        },
    }
}
