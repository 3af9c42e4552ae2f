//! The uniform random walk: every interleaving has the same probability.
//!
//! A walk that chooses uniformly among the enabled activities prefers interleavings in which activities end late. For a
//! uniform distribution, an activity has to be chosen in proportion to its remaining steps, which are estimated from
//! earlier executions. The remaining steps of an activity that has not yet started count for its parent: a tree of
//! activities has as many interleavings as if each step were followed by all steps that only it enables.
//!
//! If the estimates are right and no activity ever waits, the distribution is uniform. Otherwise it is close to
//! uniform.

use super::{
    births::Births,
    chooser::Chooses,
    enabled::{Enabled, TRIES},
    random::Random,
};
use crate::{Activity, Run, Runs, Step};

/// What earlier executions say about an activity.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its steps in all executions in which it took any.
    steps: u64,
    executions: u64,
    /// The activity that started it most recently.
    parent: Option<Activity>,
}

/// The remaining steps of an activity in this execution.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    own: u64,
    /// The steps of all its descendants that have not yet started.
    not_started: u64,
    is_born: bool,
}

/// The remaining steps of all activities.
///
/// # Invariants
///
/// 1. The weight of an activity that has started is the number of its remaining steps, and at least 1: an activity that
///    runs longer than expected is assumed to have one more step. An activity that waits for something that is not a
///    step has nothing pending and yet has not ended, so ended activities cannot be distinguished and keep a weight of
///    1. All other weights are 0.
/// 2. `total` is the sum of the weights.
#[derive(Clone, Debug, Default)]
struct Shares {
    left: Vec<Left>,
    weights: Vec<u64>,
    total: u64,
}

impl Shares {
    /// Resets to no activity started.
    fn begin(&mut self, at_start: &[Left], activities: u32) {
        self.left.clear();
        self.left.extend_from_slice(at_start);
        self.weights.clear();
        self.weights.resize(at_start.len(), 0);
        self.total = 0;
        self.make_room(activities);
    }

    #[inline]
    fn make_room(&mut self, activities: u32) {
        if self.left.len() < activities as usize {
            self.left.resize(activities as usize, Left::default());
            self.weights.resize(activities as usize, 0);
        }
    }

    #[inline]
    fn set(&mut self, number: usize, weight: u64) {
        self.total = self.total - self.weights[number] + weight;
        self.weights[number] = weight;
    }

    fn update(&mut self, number: usize) {
        let left = self.left[number];
        if left.is_born {
            self.set(number, left.own.max(1) + left.not_started);
        }
    }

    /// Draws an activity that has started, in proportion to its weight. Counts the partial sums that are too small,
    /// which avoids an unpredictable branch.
    #[inline]
    fn any(&self, random: &mut Random) -> Activity {
        let at = random.below(self.total);
        let (mut sum, mut number) = (0, 0);
        for weight in &self.weights {
            sum += weight;
            number += u32::from(sum <= at);
        }
        Activity(number)
    }

    /// Draws one of these, in the same proportion.
    fn any_of(&self, enabled: &[Activity], random: &mut Random) -> Option<Activity> {
        let weight = |activity: &Activity| self.weights[activity.0 as usize];
        let mut at = random.below(enabled.iter().map(weight).sum());
        let is_at = |activity: &&Activity| match at.checked_sub(weight(activity)) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        };
        enabled.iter().find(is_at).copied()
    }

    /// Moves the share of an activity that has started from its nearest ancestor that has started, and from the
    /// ancestors in between, to itself.
    fn count_for_itself(&mut self, child: Activity, known: &[Known]) {
        let child = child.0 as usize;
        self.left[child].is_born = true;
        self.update(child);
        let share = self.left[child].own + self.left[child].not_started;
        for ancestor in ancestors(child, known) {
            let left = &mut self.left[ancestor];
            left.not_started = left.not_started.saturating_sub(share);
            if left.is_born {
                self.update(ancestor);
                break;
            }
        }
    }
}

/// Chooses in proportion to the remaining steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Urw {
    known: Vec<Known>,
    /// The expected remaining steps at the start.
    at_start: Vec<Left>,
    shares: Shares,
    births: Births,
    /// Child and parent of each activity that started in this execution.
    parents: Vec<(Activity, Activity)>,
}

impl Chooses for Urw {
    fn begin(&mut self, run: &impl Run, _random: &mut Random) {
        self.shares.begin(&self.at_start, run.activities());
        self.parents.clear();
        self.births.clear();
        let shares = &mut self.shares;
        self.births.look(run, |root| {
            shares.left[root.0 as usize].is_born = true;
            shares.update(root.0 as usize);
        });
    }

    /// Rejection sampling among all activities, as in [`Enabled::any`].
    #[inline]
    fn choose<R: Runs>(
        &mut self,
        _runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        for _ in 0..TRIES {
            if self.shares.total == 0 {
                break;
            }
            let activity = self.shares.any(random);
            if run.is_enabled(activity) {
                return Some(activity);
            }
        }
        self.shares.any_of(enabled.of(run), random)
    }

    #[inline]
    fn took(&mut self, run: &impl Run, step: Step) {
        let number = step.activity.0 as usize;
        self.shares.left[number].own = self.shares.left[number].own.saturating_sub(1);
        self.shares.update(number);
        self.shares.make_room(run.activities());
        let (shares, parents, known) = (&mut self.shares, &mut self.parents, &self.known);
        self.births.look(run, |child| {
            parents.push((child, step.activity));
            shares.count_for_itself(child, known);
        });
    }

    /// Updates the estimates.
    fn learn(&mut self, schedule: &[Step]) {
        let mut steps = vec![0; self.shares.left.len()];
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
}

impl Urw {
    /// Computes the remaining steps at the start from the estimates.
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
                self.at_start[ancestor].not_started += own;
            }
        }
    }
}

/// The parent, its parent, and so on. Executions may disagree about parents, so there may be a cycle: the length is
/// limited to the number of activities.
fn ancestors(child: usize, known: &[Known]) -> impl Iterator<Item = usize> {
    let parent = |child: usize| Some(known.get(child)?.parent?.0 as usize);
    std::iter::successors(parent(child), move |&ancestor| parent(ancestor)).take(known.len())
}
