//! The uniform random walk: every interleaving is as likely as any other.
//!
//! A walk that tosses a coin at each step prefers interleavings in which activities end late. To be fair, an activity
//! must be chosen in proportion to what is left of it. How much that is, earlier executions tell. What is left of an
//! activity that has not begun counts for the one that will begin it: the interleavings of a tree of activities number
//! as many as if each step were followed by all that only it makes possible.
//!
//! If the estimates are right and nobody ever waits, interleavings are equally likely. Otherwise it is near that.

use super::{births::Births, random::Random};
use crate::{
    Activity,
    explore::{Run, Step},
};

/// What earlier executions tell of an activity.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its steps in all executions in which it took any.
    steps: u64,
    executions: u64,
    /// Who began it the last time.
    parent: Option<Activity>,
}

/// What is left of an activity in this execution.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    own: u64,
    /// That of all who are to be begun by it or by those.
    unborn: u64,
    is_born: bool,
}

impl Left {
    /// Whoever goes on longer than expected has one more step to go.
    #[inline]
    fn weight(self) -> u64 {
        self.own.max(1) + self.unborn
    }
}

/// Chooses in proportion to what is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Urw {
    known: Vec<Known>,
    /// As it is at the start.
    at_start: Vec<Left>,
    left: Vec<Left>,
    births: Births,
    /// Who began whom in this execution.
    parents: Vec<(Activity, Activity)>,
    /// To be used again.
    sums: Vec<u64>,
}

impl Urw {
    pub(super) fn begin(&mut self, run: &impl Run) {
        self.left.clone_from(&self.at_start);
        self.parents.clear();
        self.make_room(run.activities());
        self.births.clear();
        let left = &mut self.left;
        self.births
            .look(run, |root| left[root.0 as usize].is_born = true);
    }

    fn make_room(&mut self, activities: u32) {
        if self.left.len() < activities as usize {
            self.left.resize(activities as usize, Left::default());
        }
    }

    /// Adds up, and counts the sums that are too small: there is no branch on what cannot be foreseen.
    #[inline]
    pub(super) fn choose(&mut self, enabled: &[Activity], random: &mut Random) -> Activity {
        if self.sums.len() < enabled.len() {
            self.sums.resize(enabled.len(), 0);
        }
        let sums = &mut self.sums[..enabled.len()];
        let mut total = 0;
        for (sum, activity) in sums.iter_mut().zip(enabled) {
            total += self.left[activity.0 as usize].weight();
            *sum = total;
        }
        let at = random.below(total);
        enabled[sums
            .iter()
            .map(|&sum| usize::from(sum <= at))
            .sum::<usize>()]
    }

    /// A step was taken.
    #[inline]
    pub(super) fn took(&mut self, run: &impl Run, step: Step) {
        let left = &mut self.left[step.activity.0 as usize];
        left.own = left.own.saturating_sub(1);
        self.make_room(run.activities());
        let Urw {
            births,
            parents,
            left,
            known,
            ..
        } = self;
        births.look(run, |child| {
            parents.push((child, step.activity));
            count_for_itself(child, left, known);
        });
    }

    /// What earlier executions tell becomes more.
    pub(super) fn learn(&mut self, schedule: &[Step]) {
        let mut steps = vec![0; self.left.len()];
        for step in schedule {
            steps[step.activity.0 as usize] += 1;
        }
        let most = self.known.len().max(steps.len());
        self.known.resize(most, Known::default());
        for (known, steps) in self.known.iter_mut().zip(steps) {
            known.steps += steps;
            known.executions += u64::from(steps > 0);
        }
        for &(child, parent) in &self.parents {
            self.known[child.0 as usize].parent = Some(parent);
        }
        self.expect();
    }

    /// What is left at the start, from what is known.
    fn expect(&mut self) {
        self.at_start.clear();
        self.at_start.extend(self.known.iter().map(|known| {
            Left {
                own: (known.steps + known.executions / 2)
                    .checked_div(known.executions)
                    .unwrap_or(0),
                ..Left::default()
            }
        }));
        for child in 0..self.known.len() {
            let own = self.at_start[child].own;
            for ancestor in ancestors(child, &self.known) {
                self.at_start[ancestor].unborn += own;
            }
        }
    }
}

/// One that has begun takes its share from those it counted for: whoever was to begin it, and if that one has not begun
/// either, whoever was to begin that one.
fn count_for_itself(child: Activity, left: &mut [Left], known: &[Known]) {
    let child = child.0 as usize;
    left[child].is_born = true;
    let share = left[child].own + left[child].unborn;
    for ancestor in ancestors(child, known) {
        let ancestor = &mut left[ancestor];
        ancestor.unborn = ancestor.unborn.saturating_sub(share);
        if ancestor.is_born {
            break;
        }
    }
}

/// Who began it, who began that one, and so on. Two executions may disagree about who began whom, so there may be a
/// cycle: there are no more ancestors than activities.
fn ancestors(child: usize, known: &[Known]) -> impl Iterator<Item = usize> {
    let parent = |child: usize| Some(known.get(child)?.parent?.0 as usize);
    std::iter::successors(parent(child), move |&ancestor| parent(ancestor)).take(known.len())
}
