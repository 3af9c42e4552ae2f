//! What an event has to do with those before it.
//!
//! Happens-before is more than dependence read off two events: a lock is ordered after the unlock before it, but what it
//! could have overtaken is the lock before that. So the entity says both, for it is the one that knows.

/// The place of an event in its execution, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u32);

impl Moment {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an event is ordered after an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    After(Moment),
    Follows(Moment),
    Races(Moment),
    /// As `Races`, if there is a way in which it is possible without that event.
    RacesIfPossible(Moment),
    /// One of the ways in which it is possible needs this event; or nothing.
    Needs(u32, Option<Moment>),
    /// From the first of these events on it was impossible, until the second.
    Held(Moment, Option<Moment>),
}

impl Link {
    /// The event that it is ordered after.
    pub(super) fn moment(self) -> Option<Moment> {
        match self {
            Link::After(moment)
            | Link::Follows(moment)
            | Link::Races(moment)
            | Link::RacesIfPossible(moment) => Some(moment),
            Link::Needs(..) | Link::Held(..) => None,
        }
    }
}

/// Whether an event with these links, which races with `first`, is possible without that and all that comes after it.
pub(super) fn is_possible_without(
    first: Moment,
    links: &[Link],
    is_before: impl Fn(Moment, Moment) -> bool,
) -> bool {
    let is_held = links.iter().any(|link| match *link {
        Link::Held(from, until) => {
            !is_before(first, from) && until.is_none_or(|until| is_before(first, until))
        }
        _ => false,
    });
    if is_held || links.contains(&Link::Races(first)) {
        return !is_held;
    }
    let ways = links.iter().filter_map(|link| match *link {
        Link::Needs(way, _) => Some(way),
        _ => None,
    });
    let is_lost = |way: u32| {
        links.iter().any(|link| {
            matches!(*link, Link::Needs(other, Some(needed)) if other == way && is_before(first, needed))
        })
    };
    ways.into_iter().any(|way| !is_lost(way))
}

/// The events that a new event is ordered after, told by the entity that it is about.
///
/// What follows from others need not be told: a write that comes after reads need not mention the write that they saw.
#[derive(Clone, Debug, Default)]
pub struct Links {
    links: Vec<Link>,
}

impl Links {
    /// It cannot happen before that event, however the execution goes: the first event of an activity comes after the
    /// one that created it, a join after the last one of whom it waits for.
    pub fn after(&mut self, moment: Moment) {
        self.links.push(Link::After(moment));
    }

    /// It comes after that event because it did not go first in some race: a lock after the unlock, a receive after the
    /// send of what it takes.
    pub fn follows(&mut self, moment: Moment) {
        self.links.push(Link::Follows(moment));
    }

    /// It comes after that event, and could have gone first. If the other is of the same activity, it could not.
    pub fn races(&mut self, moment: Moment) {
        self.links.push(Link::Races(moment));
    }

    /// As [`races`](Links::races), provided that it is possible without that event, by one of the ways that are told.
    pub fn races_if_possible(&mut self, moment: Moment) {
        self.links.push(Link::RacesIfPossible(moment));
    }

    /// One of the ways in which it is possible needs that event, and whatever else is told of the same way. None: nothing
    /// that happened.
    pub fn needs(&mut self, way: u32, moment: Option<Moment>) {
        self.links.push(Link::Needs(way, moment));
    }

    /// It was impossible from that event on, until the second one; or still is.
    pub fn held(&mut self, from: Moment, until: Option<Moment>) {
        self.links.push(Link::Held(from, until));
    }

    /// The earliest of those that it races with.
    pub fn earliest_race(&self) -> Option<Moment> {
        let races = self.links.iter().filter_map(|link| match *link {
            Link::Races(moment) | Link::RacesIfPossible(moment) => Some(moment),
            _ => None,
        });
        races.min()
    }

    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    pub(super) fn as_slice(&self) -> &[Link] {
        &self.links
    }
}
