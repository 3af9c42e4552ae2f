//! How an event is ordered with respect to earlier events.
//!
//! Happens-before is more than pairwise dependence: a lock is ordered after the previous unlock, but what it could have
//! overtaken is the lock before that. So the object states both, since only it knows.

use serde::{Deserialize, Serialize};

/// The position of an event in its execution, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(pub u32);

impl Moment {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an event is ordered after an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// See [`Links::after`].
    After(Moment),
    /// See [`Links::follows`].
    Follows(Moment),
    /// See [`Links::races`].
    Races(Moment),
    /// See [`Links::races_if_seen`].
    RacesIfSeen(Moment),
    /// A [`RacesIfSeen`](Link::RacesIfSeen) without an earlier event that is seen.
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
    /// The latest event that the new one is ordered after because of this link.
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

    /// The event that the new one could have happened before.
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

    /// The interval in which the new event could not happen.
    pub(super) fn bar(self) -> Option<(Moment, Option<Moment>)> {
        match self {
            Link::Outside(begin, end) | Link::Barred(begin, end) => Some((begin, end)),
            _ => None,
        }
    }
}

/// Returns whether an event with these links races with `first` only if it is possible without `first`.
pub(super) fn is_only_if_possible(first: Moment, links: &[Link]) -> bool {
    links.contains(&Link::RacesIfPossible(first)) && !links.contains(&Link::Races(first))
}

/// Returns whether an event with these links is possible without `first`, with which it races, and everything that
/// happens after `first`.
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

/// The events that a new event is ordered after, as stated by its object.
///
/// Implied links need not be stated: a write that is ordered after reads need not mention the write that they saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Links {
    links: Vec<Link>,
}

impl Links {
    /// The event cannot happen before that one in any execution: the first event of an activity comes after the event
    /// that created it, a join after the last event of the joined activity.
    pub fn after(&mut self, moment: Moment) {
        self.links.push(Link::After(moment));
    }

    /// The event comes after that one because it lost some race: a lock after the unlock, a receive after the send of
    /// its message.
    pub fn follows(&mut self, moment: Moment) {
        self.links.push(Link::Follows(moment));
    }

    /// The event comes after that one, and could have gone first, unless both belong to the same activity.
    pub fn races(&mut self, moment: Moment) {
        self.links.push(Link::Races(moment));
    }

    /// The event comes after that one, and could have gone first, but the order is observable only if that event is
    /// seen: if some other event [follows](Links::follows) it or [races](Links::races) with it. An example are two
    /// sends whose order matters only to the receivers, where the message sent first is received first.
    ///
    /// Events that are ordered only by such links form a chain in which each links to its predecessor. Seen events come
    /// before unseen ones. An event after unseen ones then races with the last seen one.
    ///
    /// No class is lost. Suppose an execution has two such events reversed, and an activity sees the second. That
    /// activity could do the same without the reversal, and would then see the first. So among the executions with this
    /// prefix there is one where the first is seen, and there the race is reversed.
    pub fn races_if_seen(&mut self, moment: Moment) {
        self.links.push(Link::RacesIfSeen(moment));
    }

    /// The event comes after `end`, because it cannot happen between `begin` and `end`, and could have gone before
    /// `begin`. Without an end, it cannot happen any more.
    ///
    /// This means that it races with `begin` and follows `end`. It is stated as one link because there may be several
    /// such intervals, and some of them may have to be avoided together: a write lock has to avoid all readers.
    pub fn outside(&mut self, begin: Moment, end: Option<Moment>) {
        self.links.push(Link::Outside(begin, end));
    }

    /// The event could not happen between these two, but need not come after them. So it could not go before an event
    /// that lies between them in happens-before order: a send that finds a queue closed could not go before the closing
    /// if the queue was full at that time and has had room only since. Without an end, it still cannot happen.
    pub fn barred(&mut self, begin: Moment, end: Option<Moment>) {
        self.links.push(Link::Barred(begin, end));
    }

    /// Like [`races`](Links::races), provided that the event is possible without that one, in one of the ways given by
    /// [`needs`](Links::needs).
    pub fn races_if_possible(&mut self, moment: Moment) {
        self.links.push(Link::RacesIfPossible(moment));
    }

    /// One of the ways in which the event is possible needs that event, and whatever else is stated for the same way.
    /// `None` if the way needs no event.
    pub fn needs(&mut self, way: u32, moment: Option<Moment>) {
        self.links.push(Link::Needs(way, moment));
    }

    /// The earliest event that it races with.
    pub fn earliest_race(&self) -> Option<Moment> {
        self.links.iter().filter_map(|link| link.race()).min()
    }

    /// Adds all links of `other`.
    pub fn append(&mut self, other: &Links) {
        self.links.extend_from_slice(&other.links);
    }

    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    pub(super) fn as_slice(&self) -> &[Link] {
        &self.links
    }
}
