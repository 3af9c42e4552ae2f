//! Probabilistic concurrency testing with chains: for programs with many activities that do little each.
//!
//! With n activities, [`Pct`](super::RandomStrategy::Pct) finds a failure with a probability that falls with n. A
//! program that creates an activity for each message has many, but few of them at once: most end before others are
//! created. So priorities belong to chains, not to activities. A chain is a sequence of activities, each of which
//! ended, as far as the creator of the next can know, before the next was created.
//!
//! Chains are built during the execution. An activity knows what holds in any execution, and what a wait or a message
//! implies; that an event lost a race implies nothing, since the race could have gone the other way. Events of one
//! activity are always in one chain: it takes its messages in the order in which they were sent, so the sends can be
//! reversed, not the turns.

use super::births::Births;
use crate::{Activity, Links, Moment, Run, Step, event_log::EventLog, links::Link};

/// The chains of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    event_log: EventLog,
    links: Links,
    births: Births,
    /// The last activity in each chain.
    chains: Vec<Activity>,
    /// A buffer, reused.
    marks: Vec<bool>,
}

impl Chains {
    pub(super) fn begin(&mut self, run: &impl Run) {
        self.event_log.clear();
        self.births.clear();
        self.chains.clear();
        self.look(run, None);
    }

    /// The last activity in each chain. All others have ended.
    pub(super) fn as_slice(&self) -> &[Activity] {
        &self.chains
    }

    pub(super) fn step(&mut self, run: &mut impl Run, step: Step) {
        let moment = self.event_log.next();
        self.links.clear();
        run.step_at(step, moment, &mut self.links);
        let causes = self.links.as_slice().iter().copied();
        let causes = causes.filter(|link| {
            !matches!(
                link,
                Link::Races(_) | Link::RacesIfSeen(_) | Link::RacesIfPossible(_)
            )
        });
        self.event_log.push(step, causes);
        self.look(run, Some(moment));
    }

    /// Adds the activities that started because of the event at `moment` to chains.
    fn look(&mut self, run: &impl Run, moment: Option<Moment>) {
        let Chains {
            event_log,
            births,
            chains,
            marks,
            ..
        } = self;
        births.look(run, |child| {
            let mut is_known = |last: Moment| {
                moment.is_some_and(|moment| event_log.is_before(last, moment, marks))
            };
            let mut is_free = |&activity: &Activity| {
                run.pending(activity).is_none()
                    && event_log.last(activity).is_some_and(&mut is_known)
            };
            match chains.iter().position(&mut is_free) {
                Some(chain) => chains[chain] = child,
                None => chains.push(child),
            }
        });
    }
}
