//! What there is to see of an execution when everybody waits.

use std::sync::Arc;

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

/// An execution, as a person looks at it.
#[derive(Clone, Debug, Default)]
pub(in crate::explore) struct View {
    /// By number.
    pub(in crate::explore) activities: Vec<Acting>,
    pub(in crate::explore) things: Vec<Held>,
    /// What the program wants to be seen, by name.
    pub(in crate::explore) watched: Vec<(String, String)>,
    pub(in crate::explore) failures: Vec<Failure>,
}

/// One activity.
#[derive(Clone, Debug)]
pub(in crate::explore) struct Acting {
    /// What the program calls it, if it does.
    pub(in crate::explore) name: String,
    pub(in crate::explore) stands: Stands,
    /// Its last panic, whoever was told.
    pub(in crate::explore) panic: Option<Panic>,
    /// The other party of what it is about to do.
    pub(in crate::explore) with: Option<u32>,
    /// What was sent to it and not handled, and what it handles now.
    pub(in crate::explore) inbox: Vec<Arc<About>>,
    pub(in crate::explore) turn: Option<Arc<About>>,
    /// What could be seen of it when it was in no turn.
    pub(in crate::explore) shown: Option<String>,
}

/// How an activity stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::explore) enum Stands {
    /// It does not exist here; others have had one of this number.
    Unborn,
    /// It is about to do an operation.
    Pending,
    /// It waits for this, which is no operation.
    Waits(String),
    Ended,
}

/// A thing that somebody has, or waits at.
#[derive(Clone, Debug, Default)]
pub(in crate::explore) struct Held {
    pub(in crate::explore) thing: u32,
    /// Who has taken it, and where.
    pub(in crate::explore) holder: Option<(u32, String)>,
    pub(in crate::explore) lookers: Vec<u32>,
    pub(in crate::explore) waiters: Vec<u32>,
}

impl State {
    /// What there is to see, but for what is watched.
    pub(in crate::explore) fn view(&self) -> View {
        let actors = self.actors[..self.born as usize].iter();
        let things = (0..).zip(&self.things).map(|(thing, state)| Held {
            thing,
            holder: state
                .holder
                .map(|(who, at)| (who, Site::text(Site::announced(at)))),
            lookers: sorted(&state.lookers),
            waiters: sorted(&state.waiters),
        });
        View {
            activities: actors.map(|actor| view_of(actor, &self.families)).collect(),
            things: things.filter(Held::is_held).collect(),
            watched: Vec::new(),
            failures: self.failures(),
        }
    }
}

impl Held {
    fn is_held(&self) -> bool {
        self.holder.is_some() || !self.lookers.is_empty() || !self.waiters.is_empty()
    }
}

/// In an order that does not depend on who came first.
fn sorted(who: &[u32]) -> Vec<u32> {
    let mut who = who.to_vec();
    who.sort_unstable();
    who
}

fn view_of(actor: &Actor, families: &Families) -> Acting {
    Acting {
        name: actor.name.clone(),
        panic: actor.panic.clone(),
        with: actor.pending().and_then(|pending| pending.special.with),
        inbox: actor.inbox.iter().cloned().collect(),
        turn: actor.turn.clone(),
        shown: actor.shown.clone(),
        stands: match &actor.phase {
            Phase::Unborn => Stands::Unborn,
            Phase::Pending => Stands::Pending,
            Phase::Parked(_, awaited) => Stands::Waits(families.told(awaited)),
            Phase::Runs | Phase::Blocked(_) => {
                Stands::Waits("something that is no operation".to_owned())
            }
            Phase::Ended => Stands::Ended,
        },
    }
}
