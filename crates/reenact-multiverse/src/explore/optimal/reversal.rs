//! A race the other way round: what is to be run instead, from just before its first event.
//!
//! These are all later events that do not happen after the first one, and then the second one. Whether another step would
//! make no difference to them decides whether they are tried already, or will be.

use super::history::History;
use crate::{
    Activity,
    explore::{Moment, Runs, links::Link},
};

/// The second event of a race. It may be one that is still waiting.
pub(super) struct Second<'a, E> {
    pub(super) activity: Activity,
    pub(super) event: &'a E,
    /// The last event of its activity before it.
    pub(super) previous: Option<Moment>,
    pub(super) links: &'a [Link],
}

/// What a step has to do with a sequence of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// It is one of them, and can be the first.
    First(usize),
    /// It is none of them and independent of all.
    Apart,
    /// Neither: having it first leads elsewhere.
    Conflict,
}

/// What is to be run instead.
pub(super) struct Reversal<'a, R: Runs> {
    runs: &'a R,
    history: &'a History<R::Event>,
    first: Moment,
    second: Second<'a, R::Event>,
    /// What comes before the second event.
    sequence: Vec<Moment>,
    has_second: bool,
}

impl<'a, R: Runs> Reversal<'a, R> {
    /// `buffer` is what [`into_buffer`](Reversal::into_buffer) gave back the last time.
    pub(super) fn new(
        runs: &'a R,
        history: &'a History<R::Event>,
        first: Moment,
        second: Second<'a, R::Event>,
        mut buffer: Vec<Moment>,
    ) -> Self {
        debug_assert!(
            runs.dependent(history.event(first), second.event),
            "events that race are dependent"
        );
        let len = u32::try_from(history.len()).expect("fewer than 2^32 events");
        buffer.clear();
        buffer.extend(
            (first.0 + 1..len)
                .map(Moment)
                .filter(|&moment| !history.is_before(first, moment)),
        );
        Reversal {
            runs,
            history,
            first,
            second,
            sequence: buffer,
            has_second: true,
        }
    }

    pub(super) fn into_buffer(self) -> Vec<Moment> {
        self.sequence
    }

    /// What the activity's next step, which does this, has to do with what is left.
    pub(super) fn meet(&self, activity: Activity, event: &R::Event) -> Meeting {
        let history = self.history;
        let own = self
            .sequence
            .iter()
            .position(|&moment| history.activity(moment) == activity);
        let (position, is_first) = if let Some(position) = own {
            let (before, at) = (&self.sequence[..position], self.sequence[position]);
            let is_first = !before.iter().any(|&moment| history.is_before(moment, at));
            (position, is_first)
        } else if self.has_second && self.second.activity == activity {
            let is_first = !self
                .sequence
                .iter()
                .any(|&moment| self.is_before_second(moment));
            (self.sequence.len(), is_first)
        } else {
            return if self.is_apart(event) {
                Meeting::Apart
            } else {
                Meeting::Conflict
            };
        };
        if is_first {
            Meeting::First(position)
        } else {
            Meeting::Conflict
        }
    }

    fn is_apart(&self, event: &R::Event) -> bool {
        let second = self.has_second.then_some(self.second.event);
        let happened = self
            .sequence
            .iter()
            .map(|&moment| self.history.event(moment));
        !happened
            .chain(second)
            .any(|other| self.runs.dependent(event, other))
    }

    /// Whether an event of the sequence happens before the second one when that goes before the first. What it
    /// [follows](crate::explore::Links::follows) is then something else, earlier.
    fn is_before_second(&self, moment: Moment) -> bool {
        let previous = self.second.previous;
        // If it is possible only because of what came later, it follows that still.
        let is_as_it_was = !self.second.links.contains(&Link::Races(self.first));
        let linked = self.second.links.iter().filter_map(|link| match *link {
            Link::After(moment) => Some(moment),
            Link::Races(moment) | Link::RacesIfPossible(moment) if moment != self.first => {
                Some(moment)
            }
            Link::Follows(moment) if is_as_it_was => Some(moment),
            Link::Held(from, until) if !self.history.is_before(self.first, from) => until,
            _ => None,
        });
        previous
            .into_iter()
            .chain(linked)
            .any(|before| self.history.is_before(moment, before))
    }

    /// The step at this position has been found elsewhere.
    pub(super) fn remove(&mut self, position: usize) {
        if position < self.sequence.len() {
            self.sequence.remove(position);
        } else {
            self.has_second = false;
        }
    }

    /// What is left of it.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = (Activity, R::Event)> {
        let second = self
            .has_second
            .then(|| (self.second.activity, self.second.event.clone()));
        self.sequence
            .iter()
            .map(|&moment| {
                let event = self.history.event(moment).clone();
                (self.history.activity(moment), event)
            })
            .chain(second)
    }
}
