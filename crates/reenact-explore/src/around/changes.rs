//! The changes that an execution allows.

use crate::{Activity, Moment, Runs, Step, event_log::EventLog, follow::EndedRun, links::Link};

/// Another execution: steps to take, and steps to follow as far as possible after them.
pub(super) struct Change {
    pub(super) prefix: Vec<Step>,
    /// The activity that has to take the step after the prefix.
    pub(super) next: Option<Activity>,
    pub(super) guide: Vec<Step>,
}

/// The second event of a race with the event at `first`. It may still be waiting.
struct Second<'a> {
    first: Moment,
    step: Step,
    moment: Option<Moment>,
    /// The previous event of its activity.
    previous: Option<Moment>,
    links: &'a [Link],
}

/// All changes at or after step `from`.
pub(super) fn changes<R: Runs>(followed: &EndedRun<R>, from: usize) -> Vec<Change> {
    let event_log = &followed.event_log;
    let mut changes = other_ways(event_log.schedule(), &followed.ways, from);
    let pending: Vec<(Activity, Vec<Link>)> = followed.pending().collect();
    let happened = event_log.moments().flat_map(|moment| {
        races(event_log.links(moment)).map(move |first| Second {
            first,
            step: event_log.step(moment),
            moment: Some(moment),
            previous: event_log.previous(moment),
            links: event_log.links(moment),
        })
    });
    let waiting = pending.iter().flat_map(|(activity, links)| {
        races(links).map(move |first| Second {
            first,
            step: Step::from(*activity),
            moment: None,
            previous: event_log.last(*activity),
            links,
        })
    });
    let seconds: Vec<Second<'_>> = happened
        .chain(waiting)
        .filter(|second| second.first.index() >= from)
        .collect();
    let mut marks = Vec::new();
    for second in &seconds {
        if second.could_go_before(second.first, event_log, &mut marks) {
            changes.extend(second.goes_first(event_log, &mut marks));
        }
    }
    changes
}

fn races(links: &[Link]) -> impl Iterator<Item = Moment> {
    links.iter().filter_map(|link| link.race())
}

/// The other choices of each step.
fn other_ways(schedule: &[Step], ways: &[u32], from: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, (&step, &ways)) in schedule.iter().zip(ways).enumerate().skip(from) {
        for choice in (0..ways).filter(|&choice| choice != step.choice) {
            let mut prefix = schedule[..at].to_vec();
            prefix.push(Step { choice, ..step });
            let guide = schedule[at + 1..].to_vec();
            changes.push(Change {
                prefix,
                next: None,
                guide,
            });
        }
    }
    changes
}

impl Second<'_> {
    /// Returns whether the second event could have happened before `first`, with which it races.
    ///
    /// It could not if it is ordered after `first` in any case. If it is ordered after `first` through another race,
    /// that race has to be reversed instead, if possible. It also could not if it had to wait for the end of something
    /// that began before `first` and ends only after `first`, because of it.
    fn could_go_before(&self, first: Moment, event_log: &EventLog, marks: &mut Vec<bool>) -> bool {
        if event_log.step(first).activity == self.step.activity {
            return false;
        }
        let mut is_after = |other| event_log.is_before(first, other, marks);
        if self.previous.is_some_and(&mut is_after) {
            return false;
        }
        !self.links.iter().any(|link| match *link {
            Link::After(other) => event_log.is_before(first, other, marks),
            Link::Races(other) | Link::RacesIfSeen(other) | Link::RacesIfPossible(other) => {
                other > first
                    && event_log.is_before(first, other, marks)
                    && self.could_go_before(other, event_log, marks)
            }
            Link::Follows(_) | Link::Needs(..) | Link::Void => false,
            Link::Outside(..) | Link::Barred(..) => link.bar().is_some_and(|(begin, end)| {
                begin < first && end.is_none_or(|end| event_log.is_before(first, end, marks))
            }),
        })
    }

    /// The race reversed. `None` if it cannot be reversed.
    fn goes_first(&self, event_log: &EventLog, marks: &mut Vec<bool>) -> Option<Change> {
        let schedule = event_log.schedule();
        let first = self.first.index();
        let second = self.moment.map_or(schedule.len(), Moment::index);
        let is_left_out = self.left_out(event_log, marks)?;
        let mut prefix = schedule[..first].to_vec();
        let mut guide = vec![self.step];
        for at in first..schedule.len() {
            if at < second && !is_left_out[at] {
                prefix.push(schedule[at]);
            } else if at != second {
                guide.push(schedule[at]);
            }
        }
        Some(Change {
            prefix,
            // The choice is free: the activity may have fewer choices than before.
            next: Some(self.step.activity),
            guide,
        })
    }

    /// Marks the events that must not happen before the second event if it goes first: the first event and what happens
    /// after it, and anything whose end the second event would have to wait for, if that end is marked, with what
    /// happens after it. `None` if the second event is ordered after a marked one.
    fn left_out(&self, event_log: &EventLog, marks: &mut Vec<bool>) -> Option<Vec<bool>> {
        let mut is_left_out = Vec::new();
        event_log.mark_after(self.first, &mut is_left_out);
        let bars = || self.links.iter().filter_map(|link| link.bar());
        while let Some((begin, _)) = bars().find(|&(begin, end)| {
            let is_over = end.is_some_and(|end| !is_left_out[end.index()]);
            begin > self.first && !is_left_out[begin.index()] && !is_over
        }) {
            event_log.mark_after(begin, marks);
            for (is_left_out, is_after) in is_left_out.iter_mut().zip(&*marks) {
                *is_left_out |= is_after;
            }
        }
        let needed = self.links.iter().filter_map(|link| match *link {
            Link::After(moment) => Some(moment),
            _ => None,
        });
        let mut needed = needed.chain(self.previous);
        let lacks = needed.any(|moment| is_left_out[moment.index()]);
        (!lacks).then_some(is_left_out)
    }
}
