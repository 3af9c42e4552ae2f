//! Probabilistic concurrency testing with chains: for programs in which many activities do little each.
//!
//! With n activities, [`Pct`](super::Strategy::Pct) finds a failure with a probability that falls with n. A program that
//! makes an activity for each message has many, but few of them at once: most are over before others are made. So
//! priorities belong to chains, not to activities. A chain is a sequence of activities, each of which was over, as far as
//! the one that made the next can know, before that one was made.
//!
//! Chains are made as the execution goes. What counts as knowing is what holds in any execution, and what a wait or a
//! message tells; that an event lost a race tells nothing, for the race could have gone the other way. Events of one
//! activity are always in one chain: it takes its messages in the order in which they were sent, so it is the sends that
//! can be turned round, not the turns.

use super::births::Births;
use crate::{
    Activity,
    explore::{Links, Moment, Run, Step, chronicle::Chronicle, links::Link},
};

/// The chains of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    chronicle: Chronicle,
    links: Links,
    births: Births,
    /// The last activity in each.
    chains: Vec<Activity>,
    /// To be used again.
    marks: Vec<bool>,
}

impl Chains {
    pub(super) fn begin(&mut self, run: &impl Run) {
        self.chronicle.clear();
        self.births.clear();
        self.chains.clear();
        self.look(run, None);
    }

    /// The last activity in each chain. All others are over.
    pub(super) fn as_slice(&self) -> &[Activity] {
        &self.chains
    }

    pub(super) fn step(&mut self, run: &mut impl Run, step: Step) {
        let moment = self.chronicle.next();
        self.links.clear();
        run.step_at(step, moment, &mut self.links);
        let causes = self.links.as_slice().iter().copied();
        let causes = causes.filter(|link| {
            !matches!(
                link,
                Link::Races(_) | Link::RacesIfSeen(_) | Link::RacesIfPossible(_)
            )
        });
        self.chronicle.push(step, causes);
        self.look(run, Some(moment));
    }

    /// Puts those who have begun, because of what happened at `moment`, into chains.
    fn look(&mut self, run: &impl Run, moment: Option<Moment>) {
        let Chains {
            chronicle,
            births,
            chains,
            marks,
            ..
        } = self;
        births.look(run, |child| {
            let mut is_known = |last: Moment| {
                moment.is_some_and(|moment| chronicle.is_before(last, moment, marks))
            };
            let mut is_free = |&activity: &Activity| {
                run.pending(activity).is_none()
                    && chronicle.last(activity).is_some_and(&mut is_known)
            };
            match chains.iter().position(&mut is_free) {
                Some(chain) => chains[chain] = child,
                None => chains.push(child),
            }
        });
    }
}
