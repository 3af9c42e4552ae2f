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
}

impl Link {
    pub(super) fn moment(self) -> Moment {
        match self {
            Link::After(moment) | Link::Follows(moment) | Link::Races(moment) => moment,
        }
    }
}

/// Why an event comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// See [`Links::after`].
    After,
    /// See [`Links::follows`].
    Follows,
    /// See [`Links::races`].
    Races,
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

    /// All that was told.
    pub fn iter(&self) -> impl Iterator<Item = (LinkKind, Moment)> {
        self.links.iter().map(|link| match *link {
            Link::After(moment) => (LinkKind::After, moment),
            Link::Follows(moment) => (LinkKind::Follows, moment),
            Link::Races(moment) => (LinkKind::Races, moment),
        })
    }

    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    pub(super) fn as_slice(&self) -> &[Link] {
        &self.links
    }
}
