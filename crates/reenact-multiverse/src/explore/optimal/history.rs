//! The events of the current execution, and their happens-before order.
//!
//! An event's clock has, for each activity, how many of its events happened before it or are it. Clocks are cut off
//! behind the last activity that had begun. All of them are in one vector, and so are all links: going back to an earlier
//! point is to cut them off, and a step allocates nothing once they have grown.

use crate::{
    Activity,
    explore::{
        Moment,
        links::{Link, Links, is_possible_without},
    },
};

/// An event that happened.
struct Entry<E> {
    activity: Activity,
    /// Its number among those of its activity, from 1.
    number: u32,
    event: E,
    /// What it was when it was about to happen.
    pending: E,
    /// The one before it of the same activity.
    previous: Option<Moment>,
    /// Where its clock and its links begin.
    clock: usize,
    links: usize,
}

/// A race: the second came after the first, and could have gone first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub(super) first: Moment,
    pub(super) second: Moment,
}

/// What has happened.
pub(in crate::explore) struct History<E> {
    entries: Vec<Entry<E>>,
    clocks: Vec<u32>,
    links: Vec<Link>,
    /// By their second event.
    races: Vec<Race>,
    /// The last event of each activity.
    last: Vec<Option<Moment>>,
    schedule: Vec<Activity>,
}

impl<E> History<E> {
    pub(super) fn new() -> Self {
        History {
            entries: Vec::new(),
            clocks: Vec::new(),
            links: Vec::new(),
            races: Vec::new(),
            last: Vec::new(),
            schedule: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the next event will be.
    pub(super) fn next(&self) -> Moment {
        Moment(u32::try_from(self.len()).expect("fewer than 2^32 events"))
    }

    /// Who took the steps.
    pub(in crate::explore) fn schedule(&self) -> &[Activity] {
        &self.schedule
    }

    pub(super) fn activity(&self, moment: Moment) -> Activity {
        self.entries[moment.index()].activity
    }

    /// What it was when it was about to happen: elsewhere it may turn out to be something else.
    pub(super) fn pending(&self, moment: Moment) -> &E {
        &self.entries[moment.index()].pending
    }

    pub(super) fn event(&self, moment: Moment) -> &E {
        &self.entries[moment.index()].event
    }

    /// What happened last.
    pub(super) fn last_event(&self) -> Option<&E> {
        self.entries.last().map(|entry| &entry.event)
    }

    pub(in crate::explore) fn events(&self) -> impl Iterator<Item = (Activity, &E)> {
        self.entries
            .iter()
            .map(|entry| (entry.activity, &entry.event))
    }

    pub(super) fn races(&self) -> &[Race] {
        &self.races
    }

    /// The last event of the activity so far.
    pub(super) fn last(&self, activity: Activity) -> Option<Moment> {
        self.last.get(activity.0 as usize).copied().flatten()
    }

    /// The event before this one of the same activity.
    pub(super) fn previous(&self, moment: Moment) -> Option<Moment> {
        self.entries[moment.index()].previous
    }

    pub(super) fn links(&self, moment: Moment) -> &[Link] {
        let start = self.entries[moment.index()].links;
        let end = match self.entries.get(moment.index() + 1) {
            Some(next) => next.links,
            None => self.links.len(),
        };
        &self.links[start..end]
    }

    fn clock(&self, moment: Moment) -> &[u32] {
        let start = self.entries[moment.index()].clock;
        let end = match self.entries.get(moment.index() + 1) {
            Some(next) => next.clock,
            None => self.clocks.len(),
        };
        &self.clocks[start..end]
    }

    /// Whether `a` happens before `b`, or is it.
    pub(super) fn is_before(&self, a: Moment, b: Moment) -> bool {
        let a = &self.entries[a.index()];
        let seen = self.clock(b).get(a.activity.0 as usize);
        seen.is_some_and(|&number| number >= a.number)
    }

    /// Whether an event with these predecessors, of this activity, could have gone before `first`, with which it races.
    ///
    /// It could not if it comes after it anyhow. If it comes after it through another race, that one is reversed first.
    pub(super) fn is_reversible(
        &self,
        first: Moment,
        activity: Activity,
        previous: Option<Moment>,
        links: &[Link],
    ) -> bool {
        if self.activity(first) == activity {
            return false;
        }
        let is_possible =
            |without| is_possible_without(without, links, |a, b| self.is_before(a, b));
        if !is_possible(first) {
            return false;
        }
        let mut others = links.iter().filter_map(|link| match *link {
            Link::After(moment) => Some(moment),
            Link::Races(moment) | Link::RacesIfPossible(moment)
                if moment != first && is_possible(moment) =>
            {
                Some(moment)
            }
            _ => None,
        });
        !previous.is_some_and(|previous| self.is_before(first, previous))
            && !others.any(|other| self.is_before(first, other))
    }

    /// An event happens.
    pub(super) fn push(&mut self, activity: Activity, event: E, pending: E, links: &Links) {
        let slot = activity.0 as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, None);
        }
        let moment = self.next();
        let previous = self.last[slot];
        let number = previous.map_or(0, |previous| self.entries[previous.index()].number) + 1;
        for link in links.as_slice() {
            if let Link::Races(first) | Link::RacesIfPossible(first) = *link
                && self.is_reversible(first, activity, previous, links.as_slice())
            {
                self.races.push(Race {
                    first,
                    second: moment,
                });
            }
        }
        let clock = self.clocks.len();
        self.clocks.resize(clock + self.last.len(), 0);
        for before in previous
            .into_iter()
            .chain(links.as_slice().iter().filter_map(|link| link.moment()))
        {
            self.join(clock, before);
        }
        self.clocks[clock + slot] = number;
        self.entries.push(Entry {
            activity,
            number,
            event,
            pending,
            previous,
            clock,
            links: self.links.len(),
        });
        self.links.extend_from_slice(links.as_slice());
        self.last[slot] = Some(moment);
        self.schedule.push(activity);
    }

    /// The clock that is being made, at the end, sees what `before` saw.
    fn join(&mut self, clock: usize, before: Moment) {
        let start = self.entries[before.index()].clock;
        let end = match self.entries.get(before.index() + 1) {
            Some(next) => next.clock,
            None => clock,
        };
        let (old, new) = self.clocks.split_at_mut(clock);
        for (new, old) in new.iter_mut().zip(&old[start..end]) {
            *new = (*new).max(*old);
        }
    }

    /// The last event is taken back.
    pub(super) fn pop(&mut self) -> Option<(Activity, E)> {
        let entry = self.entries.pop()?;
        self.clocks.truncate(entry.clock);
        self.links.truncate(entry.links);
        self.schedule.pop();
        self.last[entry.activity.0 as usize] = entry.previous;
        let end = self.entries.len();
        while self
            .races
            .pop_if(|race| race.second.index() == end)
            .is_some()
        {}
        Some((entry.activity, entry.event))
    }
}
