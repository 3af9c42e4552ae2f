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
pub enum Link {
    /// See [`Links::after`].
    After(Moment),
    /// See [`Links::follows`].
    Follows(Moment),
    /// See [`Links::races`].
    Races(Moment),
    /// See [`Links::races_if_seen`].
    RacesIfSeen(Moment),
    /// One of the former, where nothing before is seen.
    Void,
    /// See [`Links::outside`].
    Outside(Moment, Option<Moment>),
    /// See [`Links::barred`].
    Barred(Moment, Option<Moment>),
    /// See [`Links::races_if_possible`].
    RacesIfPossible(Moment),
    /// See [`Links::needs`].
    Needs(u32, Option<Moment>),
}

impl Link {
    /// The latest event that the new one comes after because of it.
    pub(super) fn before(self) -> Option<Moment> {
        match self {
            Link::After(moment)
            | Link::Follows(moment)
            | Link::Races(moment)
            | Link::RacesIfSeen(moment)
            | Link::RacesIfPossible(moment) => Some(moment),
            Link::Outside(begin, end) => Some(end.unwrap_or(begin)),
            Link::Barred(..) | Link::Needs(..) | Link::Void => None,
        }
    }

    /// The event that the new one could have gone before.
    pub(super) fn race(self) -> Option<Moment> {
        match self {
            Link::Races(moment)
            | Link::RacesIfSeen(moment)
            | Link::RacesIfPossible(moment)
            | Link::Outside(moment, _) => Some(moment),
            Link::After(_) | Link::Follows(_) | Link::Barred(..) | Link::Needs(..) | Link::Void => {
                None
            }
        }
    }

    /// When the new event could not happen.
    pub(super) fn bar(self) -> Option<(Moment, Option<Moment>)> {
        match self {
            Link::Outside(begin, end) | Link::Barred(begin, end) => Some((begin, end)),
            _ => None,
        }
    }
}

/// Whether an event with these links races with `first` only if it is possible without that.
pub(super) fn is_only_if_possible(first: Moment, links: &[Link]) -> bool {
    links.contains(&Link::RacesIfPossible(first)) && !links.contains(&Link::Races(first))
}

/// Whether an event with these links is possible without `first`, with which it races, and all that comes after that.
pub(super) fn is_possible_without(
    first: Moment,
    links: &[Link],
    mut is_after_first: impl FnMut(Moment) -> bool,
) -> bool {
    if !is_only_if_possible(first, links) {
        return true;
    }
    let mut lost = Vec::new();
    for link in links {
        if let Link::Needs(way, Some(needed)) = *link
            && is_after_first(needed)
        {
            lost.push(way);
        }
    }
    let mut ways = links.iter().filter_map(|link| match *link {
        Link::Needs(way, _) => Some(way),
        _ => None,
    });
    ways.any(|way| !lost.contains(&way))
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

    /// It comes after that event, and could have gone first, but nobody can tell unless that event is seen: unless some other
    /// one [follows](Links::follows) it or [races](Links::races) with it. Two sends are such if their order matters to no
    /// one but those who receive, and what was sent first is received first.
    ///
    /// Of those that are ordered only by this, each tells the one before it, and those that are seen come before those that
    /// are not. One that comes after others that are not seen then races with the last one that is.
    ///
    /// By this nothing is lost. Say that an execution has two the other way round, and one who sees the second. That one
    /// could do the same had they not been turned round, and would see the first. So among the executions that begin like
    /// this one there is one where the first is seen, and there the race is reversed.
    pub fn races_if_seen(&mut self, moment: Moment) {
        self.links.push(Link::RacesIfSeen(moment));
    }

    /// It comes after `end`, because it cannot happen between `begin` and `end`, and could have gone before `begin`. Without
    /// an end, it cannot happen any more.
    ///
    /// That is to race with `begin` and to follow `end`. It is told this way where there are several such times, and some
    /// of them may have to be avoided together: one who takes a lock alone avoids all who look.
    pub fn outside(&mut self, begin: Moment, end: Option<Moment>) {
        self.links.push(Link::Outside(begin, end));
    }

    /// It could not happen between these two, but need not come after them. So it could not go before something that comes
    /// after the first and that the second comes after: a send that finds a queue closed could not go before the closing if
    /// the queue was full then, and has room only since.
    /// Without an end, it still cannot.
    pub fn barred(&mut self, begin: Moment, end: Option<Moment>) {
        self.links.push(Link::Barred(begin, end));
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

    /// The earliest of those that it races with.
    pub fn earliest_race(&self) -> Option<Moment> {
        self.links.iter().filter_map(|link| link.race()).min()
    }

    /// One of them.
    pub fn push(&mut self, link: Link) {
        self.links.push(link);
    }

    /// All that was told.
    pub fn iter(&self) -> impl Iterator<Item = Link> {
        self.links.iter().copied()
    }

    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    pub(super) fn as_slice(&self) -> &[Link] {
        &self.links
    }
}
