//! What can be changed in an execution.

use crate::{
    Activity,
    explore::{Moment, Runs, Step, chronicle::Chronicle, follow::Followed, links::Link},
};

/// Another execution: steps to be taken, and steps to go along with after them.
pub(super) struct Change {
    pub(super) prefix: Vec<Step>,
    /// Who has to be the one to go on then.
    pub(super) next: Option<Activity>,
    pub(super) guide: Vec<Step>,
}

/// The second event of a race with the one at `first`. It may be one that still waits.
struct Second<'a> {
    first: Moment,
    step: Step,
    moment: Option<Moment>,
    /// The event of its activity before it.
    previous: Option<Moment>,
    links: &'a [Link],
}

/// Everything that can be changed at this step or later.
pub(super) fn changes<R: Runs>(followed: &Followed<R>, from: usize) -> Vec<Change> {
    let chronicle = &followed.chronicle;
    let mut changes = other_ways(chronicle.schedule(), &followed.ways, from);
    let pending: Vec<(Activity, Vec<Link>)> = followed.pending().collect();
    let happened = chronicle.moments().flat_map(|moment| {
        races(chronicle.links(moment)).map(move |first| Second {
            first,
            step: chronicle.step(moment),
            moment: Some(moment),
            previous: chronicle.previous(moment),
            links: chronicle.links(moment),
        })
    });
    let waiting = pending.iter().flat_map(|(activity, links)| {
        races(links).map(move |first| Second {
            first,
            step: Step::from(*activity),
            moment: None,
            previous: chronicle.last(*activity),
            links,
        })
    });
    let seconds: Vec<Second<'_>> = happened
        .chain(waiting)
        .filter(|second| second.first.index() >= from)
        .collect();
    let mut marks = Vec::new();
    for second in &seconds {
        if second.could_go_before(second.first, chronicle, &mut marks) {
            changes.extend(second.goes_first(chronicle, &mut marks));
        }
    }
    changes
}

fn races(links: &[Link]) -> impl Iterator<Item = Moment> {
    links.iter().filter_map(|link| link.race())
}

/// Steps that could have gone another way.
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
    /// Whether it could have gone before that event, with which it races.
    ///
    /// It could not if it comes after it anyhow. If it comes after it through another race, that one is to be reversed, if
    /// it can be. It also could not if it had to wait for the end of something that has begun before, and ends only later
    /// because of that event.
    fn could_go_before(&self, first: Moment, chronicle: &Chronicle, marks: &mut Vec<bool>) -> bool {
        if chronicle.step(first).activity == self.step.activity {
            return false;
        }
        let mut is_after = |other| chronicle.is_before(first, other, marks);
        if self.previous.is_some_and(&mut is_after) {
            return false;
        }
        !self.links.iter().any(|link| match *link {
            Link::After(other) => chronicle.is_before(first, other, marks),
            Link::Races(other) | Link::RacesIfSeen(other) | Link::RacesIfPossible(other) => {
                other > first
                    && chronicle.is_before(first, other, marks)
                    && self.could_go_before(other, chronicle, marks)
            }
            Link::Follows(_) | Link::Needs(..) | Link::Void => false,
            Link::Outside(..) | Link::Barred(..) => link.bar().is_some_and(|(begin, end)| {
                begin < first && end.is_none_or(|end| chronicle.is_before(first, end, marks))
            }),
        })
    }

    /// The race the other way round. `None`: it cannot be.
    fn goes_first(&self, chronicle: &Chronicle, marks: &mut Vec<bool>) -> Option<Change> {
        let schedule = chronicle.schedule();
        let first = self.first.index();
        let second = self.moment.map_or(schedule.len(), Moment::index);
        let is_left_out = self.left_out(chronicle, marks)?;
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
            // In which way is up to it: there may be fewer of them than before.
            next: Some(self.step.activity),
            guide,
        })
    }

    /// What must not happen before it if it goes first: the first event and what happens after it. Also what it would have
    /// to wait for the end of, if that end is left out, and what happens after that. `None`: it comes after some of it.
    fn left_out(&self, chronicle: &Chronicle, marks: &mut Vec<bool>) -> Option<Vec<bool>> {
        let mut is_left_out = Vec::new();
        chronicle.mark_after(self.first, &mut is_left_out);
        let bars = || self.links.iter().filter_map(|link| link.bar());
        while let Some((begin, _)) = bars().find(|&(begin, end)| {
            let is_over = end.is_some_and(|end| !is_left_out[end.index()]);
            begin > self.first && !is_left_out[begin.index()] && !is_over
        }) {
            chronicle.mark_after(begin, marks);
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
