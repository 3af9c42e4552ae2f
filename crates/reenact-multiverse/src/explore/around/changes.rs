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
    let mut seconds: Vec<Second<'_>> = happened
        .chain(waiting)
        .filter(|second| second.first.index() >= from)
        .collect();
    seconds.sort_by_key(|second| second.first);
    let mut is_after = Vec::new();
    for race in seconds.chunk_by(|a, b| a.first == b.first) {
        chronicle.mark_after(race[0].first, &mut is_after);
        let reversible = race
            .iter()
            .filter(|second| second.could_be_first(chronicle, &is_after));
        changes.extend(reversible.map(|second| second.goes_first(chronicle, &is_after)));
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
    /// Whether it does not come after the first event anyhow. If it does through another race, that one is to be reversed.
    fn could_be_first(&self, chronicle: &Chronicle, is_after: &[bool]) -> bool {
        let linked = self.links.iter().filter(|link| match link {
            Link::Follows(_) => false,
            link => link.race() != Some(self.first),
        });
        let mut others = linked.filter_map(|link| link.before()).chain(self.previous);
        chronicle.step(self.first).activity != self.step.activity
            && !others.any(|other| is_after[other.index()])
    }

    /// The race the other way round.
    fn goes_first(&self, chronicle: &Chronicle, is_after: &[bool]) -> Change {
        let schedule = chronicle.schedule();
        let first = self.first.index();
        let second = self.moment.map_or(schedule.len(), Moment::index);
        let mut prefix = schedule[..first].to_vec();
        let mut guide = vec![self.step];
        for at in first..schedule.len() {
            if at < second && !is_after[at] {
                prefix.push(schedule[at]);
            } else if at != second {
                guide.push(schedule[at]);
            }
        }
        Change {
            prefix,
            // In which way is up to it: there may be fewer of them than before.
            next: Some(self.step.activity),
            guide,
        }
    }
}
