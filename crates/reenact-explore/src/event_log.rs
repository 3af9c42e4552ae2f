//! The steps of one execution, and what each of them is ordered after.
//!
//! There are no vector clocks. To find what happens after an event, the links are walked once, which costs less than
//! clocks as long as few events of an execution are queried. Optimal exploration queries many, and adds clocks
//! ([`ClockedLog`](super::optimal::ClockedLog)).

use std::ops::Range;

use super::{Moment, Step, links::Link};
use crate::Activity;

/// The steps of an execution and their links.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    schedule: Vec<Step>,
    entries: Vec<Entry>,
    links: Vec<Link>,
    /// The last event of each activity.
    last: Vec<Option<Moment>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The previous event of the same activity.
    previous: Option<Moment>,
    /// The index of its first link.
    links: usize,
}

impl EventLog {
    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.schedule.clear();
        self.entries.clear();
        self.links.clear();
        self.last.clear();
    }

    /// Appends an event.
    #[inline]
    pub(super) fn push(&mut self, step: Step, links: impl Iterator<Item = Link>) {
        let moment = self.next();
        let slot = step.activity.0 as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, None);
        }
        self.entries.push(Entry {
            previous: self.last[slot].replace(moment),
            links: self.links.len(),
        });
        self.schedule.push(step);
        self.links.extend(links);
    }

    /// Removes the last event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Step> {
        let step = self.schedule.pop()?;
        let entry = self.entries.pop()?;
        self.links.truncate(entry.links);
        self.last[step.activity.0 as usize] = entry.previous;
        Some(step)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.schedule.len()
    }

    /// The moment of the next event.
    #[inline]
    pub(super) fn next(&self) -> Moment {
        Moment(u32::try_from(self.len()).expect("fewer than 2^32 events"))
    }

    #[inline]
    pub(super) fn schedule(&self) -> &[Step] {
        &self.schedule
    }

    pub(super) fn moments(&self) -> impl DoubleEndedIterator<Item = Moment> + use<> {
        (0..self.next().0).map(Moment)
    }

    #[inline]
    pub(super) fn step(&self, moment: Moment) -> Step {
        self.schedule[moment.index()]
    }

    /// The previous event of the same activity.
    #[inline]
    pub(super) fn previous(&self, moment: Moment) -> Option<Moment> {
        self.entries[moment.index()].previous
    }

    /// The last event of the activity so far.
    #[inline]
    pub(super) fn last(&self, activity: Activity) -> Option<Moment> {
        self.last.get(activity.0 as usize).copied().flatten()
    }

    /// One more than the highest number of an activity so far.
    #[inline]
    pub(super) fn activities(&self) -> usize {
        self.last.len()
    }

    #[inline]
    pub(super) fn links(&self, moment: Moment) -> &[Link] {
        &self.links[self.link_indices(moment)]
    }

    /// The indices of the links of an event among all links.
    #[inline]
    pub(super) fn link_indices(&self, moment: Moment) -> Range<usize> {
        let next = self.entries.get(moment.index() + 1);
        let end = next.map_or(self.links.len(), |next| next.links);
        self.entries[moment.index()].links..end
    }

    /// The links of all events.
    #[inline]
    pub(super) fn all_links(&self) -> &[Link] {
        &self.links
    }

    /// Replaces a link. Returns the old one.
    pub(super) fn replace_link(&mut self, index: usize, link: Link) -> Link {
        std::mem::replace(&mut self.links[index], link)
    }

    /// The direct predecessors of an event.
    pub(super) fn before(&self, moment: Moment) -> impl Iterator<Item = Moment> {
        let linked = self.links(moment).iter().filter_map(|link| link.before());
        self.previous(moment).into_iter().chain(linked)
    }

    /// Marks an event and everything that happens after it.
    pub(super) fn mark_after(&self, first: Moment, marks: &mut Vec<bool>) {
        marks.clear();
        marks.resize(self.schedule.len(), false);
        marks[first.index()] = true;
        for moment in (first.0 + 1..self.next().0).map(Moment) {
            marks[moment.index()] = self.before(moment).any(|before| marks[before.index()]);
        }
    }

    /// Returns whether `a` happens before `b` or equals it. `marks` is a buffer, reused.
    pub(super) fn is_before(&self, a: Moment, b: Moment, marks: &mut Vec<bool>) -> bool {
        if b < a {
            return false;
        }
        marks.clear();
        marks.resize(b.index() + 1, false);
        marks[b.index()] = true;
        for moment in (a.0 + 1..=b.0).rev().map(Moment) {
            if marks[moment.index()] {
                for before in self.before(moment) {
                    marks[before.index()] = true;
                }
            }
        }
        marks[a.index()]
    }
}
