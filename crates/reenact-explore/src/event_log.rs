//! The steps of one execution, and what each of them is ordered after.
//!
//! There are no vector clocks. To find what happens after an event, the links are walked once, which costs less than
//! clocks as long as few events of an execution are queried.

use super::{Moment, Step, links::Link};
use crate::Activity;

/// The events of an execution.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    schedule: Vec<Step>,
    /// The previous event of the same activity, by moment.
    previous: Vec<Option<Moment>>,
    links: Vec<Link>,
    /// Where the links of each event end.
    ends: Vec<usize>,
    /// The last event of each activity.
    last: Vec<Option<Moment>>,
}

impl EventLog {
    /// Removes all events.
    pub(super) fn clear(&mut self) {
        self.schedule.clear();
        self.previous.clear();
        self.links.clear();
        self.ends.clear();
        self.last.clear();
    }

    /// Appends an event.
    pub(super) fn push(&mut self, step: Step, links: impl Iterator<Item = Link>) {
        let moment = self.next();
        let slot = step.activity.0 as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, None);
        }
        self.previous.push(self.last[slot].replace(moment));
        self.schedule.push(step);
        self.links.extend(links);
        self.ends.push(self.links.len());
    }

    /// The moment of the next event.
    pub(super) fn next(&self) -> Moment {
        Moment(u32::try_from(self.schedule.len()).expect("fewer than 2^32 events"))
    }

    pub(super) fn schedule(&self) -> &[Step] {
        &self.schedule
    }

    pub(super) fn moments(&self) -> impl DoubleEndedIterator<Item = Moment> + use<> {
        (0..self.next().0).map(Moment)
    }

    pub(super) fn step(&self, moment: Moment) -> Step {
        self.schedule[moment.index()]
    }

    pub(super) fn previous(&self, moment: Moment) -> Option<Moment> {
        self.previous[moment.index()]
    }

    /// The last event of the activity so far.
    pub(super) fn last(&self, activity: Activity) -> Option<Moment> {
        self.last.get(activity.0 as usize).copied().flatten()
    }

    pub(super) fn links(&self, moment: Moment) -> &[Link] {
        let index = moment.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.links[start..self.ends[index]]
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
