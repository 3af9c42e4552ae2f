//! The log of the current execution, with the happens-before order and the races of its events.
//!
//! The vector clock of an event has, for each activity, the number of its events that happened before the event or are
//! it. Clocks are truncated after the last activity that had started. All clocks are in one vector: going back to an
//! earlier point truncates it, and a step does not allocate once it has grown. Data that few events have is stored
//! separately.

use crate::{
    Activity, Moment, Step,
    event_log::EventLog,
    links::{Link, Links, is_possible_without},
};

/// An event that happened.
struct Entry<E> {
    /// What it turned out to do.
    event: E,
    /// Its number among the events of its activity, from 1.
    number: u32,
    /// Where its clock begins.
    clock: usize,
}

/// A race: the second event came after the first, and could have gone first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub(super) first: Moment,
    pub(super) second: Moment,
}

/// A step in its pending form.
pub(super) struct AnnouncedStep<E> {
    pub(super) step: Step,
    pub(super) event: E,
    /// The number of choices.
    pub(super) choices: u32,
}

/// The events of the current execution.
pub(crate) struct ClockedLog<E> {
    log: EventLog,
    entries: Vec<Entry<E>>,
    clocks: Vec<u32>,
    /// Ordered by their second event.
    races: Vec<Race>,
    /// What was pending before the event, if the event turned out to be different.
    announced: Vec<(Moment, E)>,
    /// The events with several choices, and how many.
    open: Vec<(Moment, u32)>,
    conditions: Vec<Condition>,
    /// Which events are seen, computed if there are conditions.
    is_seen: Vec<bool>,
    /// The number of events that existed when races were last examined.
    looked_at: usize,
}

/// A link that depends on whether an event is seen.
#[derive(Clone, Copy)]
struct Condition {
    event: Moment,
    /// The index of the link.
    link: usize,
    /// The earlier event that the link refers to.
    before: Moment,
}

impl<E> ClockedLog<E> {
    pub(super) fn new() -> Self {
        ClockedLog {
            log: EventLog::default(),
            entries: Vec::new(),
            clocks: Vec::new(),
            races: Vec::new(),
            announced: Vec::new(),
            open: Vec::new(),
            conditions: Vec::new(),
            is_seen: Vec::new(),
            looked_at: 0,
        }
    }

    /// The steps and their links.
    #[inline]
    pub(crate) fn steps(&self) -> &EventLog {
        &self.log
    }

    pub(super) fn activity(&self, moment: Moment) -> Activity {
        self.log.step(moment).activity
    }

    pub(super) fn event(&self, moment: Moment) -> &E {
        &self.entries[moment.index()].event
    }

    /// What was pending before the event, and whether it is certain to do the same elsewhere.
    pub(super) fn announced(&self, moment: Moment) -> (&E, bool) {
        match self.announced.binary_search_by_key(&moment, |(at, _)| *at) {
            Ok(index) => (&self.announced[index].1, false),
            Err(_) => (self.event(moment), true),
        }
    }

    /// The last event.
    pub(super) fn last_event(&self) -> Option<&E> {
        self.entries.last().map(|entry| &entry.event)
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = (Step, &E)> {
        let events = self.entries.iter().map(|entry| &entry.event);
        self.log.schedule().iter().copied().zip(events)
    }

    /// The events with several choices, and how many.
    pub(super) fn open(&self) -> &[(Moment, u32)] {
        &self.open
    }

    fn clock(&self, moment: Moment) -> &[u32] {
        let start = self.entries[moment.index()].clock;
        let end = match self.entries.get(moment.index() + 1) {
            Some(next) => next.clock,
            None => self.clocks.len(),
        };
        &self.clocks[start..end]
    }

    /// Returns whether `a` happens before `b` or equals it.
    pub(super) fn is_before(&self, a: Moment, b: Moment) -> bool {
        // The clock of a later event has an entry for every activity that had started before.
        a <= b && self.clock_of(b, self.activity(a)) >= self.entries[a.index()].number
    }

    fn clock_of(&self, moment: Moment, activity: Activity) -> u32 {
        self.clocks[self.entries[moment.index()].clock + activity.0 as usize]
    }

    /// The later events that do not happen after this one.
    pub(super) fn not_after(&self, moment: Moment) -> impl Iterator<Item = Moment> {
        let number = self.entries[moment.index()].number;
        let activity = self.activity(moment);
        (moment.0 + 1..self.log.next().0)
            .map(Moment)
            .filter(move |&later| self.clock_of(later, activity) < number)
    }

    /// The races to examine: all except those that were examined before and whose reversal is unchanged because
    /// everything new happens after the first event.
    pub(super) fn races_to_reverse(&self) -> impl Iterator<Item = Race> {
        let is_plain = self.announced.is_empty();
        let new = if is_plain { self.looked_at } else { 0 };
        let floor: Vec<u32> = (0..self.log.activities())
            .map(|slot| {
                let new = self.entries[new..].iter();
                let clocks = new.map(|entry| self.clocks.get(entry.clock + slot));
                clocks.flatten().copied().min().unwrap_or(u32::MAX)
            })
            .collect();
        self.races.iter().copied().filter(move |race| {
            let slot = self.activity(race.first).0 as usize;
            race.second.index() >= new || floor[slot] < self.entries[race.first.index()].number
        })
    }

    /// Notes that all races so far have been examined.
    pub(super) fn are_looked_at(&mut self) {
        self.looked_at = self.log.len();
    }

    /// Returns whether an event of this activity with these predecessors could have gone before `first`, with which it
    /// races.
    ///
    /// It could not if it is ordered after `first` in any case. If it is ordered after `first` through another race,
    /// that race is reversed first, if possible. It also could not if it had to wait for the end of something that
    /// began before `first` and ends only after `first`, because of it.
    pub(super) fn is_reversible(
        &self,
        first: Moment,
        activity: Activity,
        previous: Option<Moment>,
        links: &[Link],
    ) -> bool {
        let is_before = |other| self.is_before(first, other);
        self.activity(first) != activity
            && !previous.is_some_and(is_before)
            && is_possible_without(first, links, is_before)
            && !links.iter().any(|link| match *link {
                Link::After(other) => is_before(other),
                Link::Races(other) | Link::RacesIfSeen(other) | Link::RacesIfPossible(other) => {
                    other > first
                        && is_before(other)
                        && self.is_reversible(other, activity, previous, links)
                }
                Link::Follows(_) | Link::Needs(..) | Link::Void => false,
                Link::Outside(..) | Link::Barred(..) => link
                    .bar()
                    .is_some_and(|(begin, end)| begin < first && end.is_none_or(is_before)),
            })
    }

    /// Adds the event of a step. Returns whether it is what was announced.
    pub(super) fn push(&mut self, announcement: AnnouncedStep<E>, event: E, links: &Links) -> bool
    where
        E: PartialEq,
    {
        let AnnouncedStep {
            step,
            event: announced,
            choices,
        } = announcement;
        let moment = self.log.next();
        let previous = self.log.last(step.activity);
        let number = previous.map_or(0, |previous| self.entries[previous.index()].number) + 1;
        self.log.push(step, links.as_slice().iter().copied());
        let clock = self.clocks.len();
        self.clocks.resize(clock + self.log.activities(), 0);
        let is_as_announced = announced == event;
        if !is_as_announced {
            self.announced.push((moment, announced));
        }
        if choices > 1 {
            self.open.push((moment, choices));
        }
        self.entries.push(Entry {
            event,
            number,
            clock,
        });
        for (link, at) in links.as_slice().iter().zip(self.log.link_indices(moment)) {
            if let Link::RacesIfSeen(before) = *link {
                self.conditions.push(Condition {
                    event: moment,
                    link: at,
                    before,
                });
            }
        }
        self.order(moment);
        is_as_announced
    }

    /// Computes the clock and the races of an event from its links.
    fn order(&mut self, moment: Moment) {
        let Entry { number, clock, .. } = self.entries[moment.index()];
        let (activity, previous) = (self.activity(moment), self.log.previous(moment));
        let width = self.clock(moment).len();
        self.clocks[clock..clock + width].fill(0);
        if let Some(previous) = previous {
            self.join(clock, previous);
        }
        for index in self.log.link_indices(moment) {
            let link = self.log.all_links()[index];
            if let Some(before) = link.before() {
                self.join(clock, before);
            }
            if let Some(first) = link.race()
                && self.is_reversible(first, activity, previous, self.log.links(moment))
            {
                self.races.push(Race {
                    first,
                    second: moment,
                });
            }
        }
        self.clocks[clock + activity.0 as usize] = number;
    }

    /// Resolves links that depend on whether an event is seen, at the end of an execution. Until then, all events are
    /// assumed to be seen.
    pub(super) fn settle(&mut self) {
        if self.conditions.is_empty() {
            return;
        }
        self.find_seen();
        let mut changed = None;
        for (index, condition) in self.conditions.iter().enumerate() {
            let mut others = self.conditions[..index].iter().rev();
            let mut before = Some(condition.before);
            while let Some(moment) = before.filter(|moment| !self.is_seen[moment.index()]) {
                let other = others.find(|other| other.event == moment);
                before = other.map(|other| other.before);
            }
            let link = before.map_or(Link::Void, Link::Races);
            let old = self.log.replace_link(condition.link, link);
            if old.race() != link.race() {
                changed.get_or_insert(condition.event);
            }
        }
        if let Some(first) = changed {
            self.looked_at = 0;
            while self.races.pop_if(|race| race.second >= first).is_some() {}
            for moment in first.0..self.log.next().0 {
                self.order(Moment(moment));
            }
        }
    }

    fn find_seen(&mut self) {
        self.is_seen.clear();
        self.is_seen.resize(self.entries.len(), false);
        let mut conditions = self.conditions.iter().peekable();
        for (index, link) in self.log.all_links().iter().enumerate() {
            if conditions.next_if(|other| other.link == index).is_none()
                && let Link::Follows(moment) | Link::Races(moment) = *link
            {
                self.is_seen[moment.index()] = true;
            }
        }
    }

    /// Merges the clock of `before` into the clock under construction.
    fn join(&mut self, clock: usize, before: Moment) {
        let start = self.entries[before.index()].clock;
        let end = self.entries[before.index() + 1].clock;
        let (old, new) = self.clocks.split_at_mut(clock);
        for (new, old) in new.iter_mut().zip(&old[start..end]) {
            *new = (*new).max(*old);
        }
    }

    /// Removes the last event. Also returns what it announced, if that was different.
    pub(super) fn pop(&mut self) -> Option<(Step, E, Option<E>)> {
        let entry = self.entries.pop()?;
        let step = self.log.pop()?;
        self.clocks.truncate(entry.clock);
        let end = self.entries.len();
        self.looked_at = self.looked_at.min(end);
        let is_gone = |moment: Moment| moment.index() == end;
        while self.races.pop_if(|race| is_gone(race.second)).is_some() {}
        let announced = self.announced.pop_if(|(moment, _)| is_gone(*moment));
        self.open.pop_if(|(moment, _)| is_gone(*moment));
        while self
            .conditions
            .pop_if(|condition| is_gone(condition.event))
            .is_some()
        {}
        Some((step, entry.event, announced.map(|(_, event)| event)))
    }
}
