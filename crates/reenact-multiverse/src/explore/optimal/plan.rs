//! What has been tried and what is to be tried, for each step of the current execution.
//!
//! Sleepers of all steps are in one vector, because only those of the last step ever become more.

use super::{
    history::History,
    reversal::{Meeting, Reversal, Second},
    wakeup::{Branches, Forest},
};
use crate::{
    Activity,
    explore::{Moment, Runs},
};

/// A point of the current execution.
struct Frame {
    /// Who takes the step.
    activity: Activity,
    /// What is to be tried instead.
    branches: Branches,
    /// Where its sleepers begin. They end where those of the next frame begin.
    sleepers: usize,
}

/// One whose next step has been tried, and has not been made worth another try by a dependent one.
struct Sleeper<E> {
    activity: Activity,
    event: E,
}

/// The steps of the current execution, and what else there is to try.
///
/// # Invariants
///
/// 1. Whoever is asleep at a point is enabled there, and neither takes its step nor begins one of its branches.
/// 2. Nothing is settled about the time after the end of an execution: `ahead` is then empty.
pub(super) struct Plan<E> {
    frames: Vec<Frame>,
    sleepers: Vec<Sleeper<E>>,
    forest: Forest<E>,
    /// What is settled about the time after the last step.
    ahead: Branches,
    /// Empty, to be used again.
    buffer: Vec<Moment>,
}

impl<E: Clone> Plan<E> {
    pub(super) fn new() -> Self {
        Plan {
            frames: Vec::new(),
            sleepers: Vec::new(),
            forest: Forest::new(),
            ahead: Branches::EMPTY,
            buffer: Vec::new(),
        }
    }

    /// Who takes the last step.
    pub(super) fn activity(&self) -> Option<Activity> {
        self.frames.last().map(|frame| frame.activity)
    }

    /// One more step: whose is settled, or else up to `any`, which is told who is asleep. Sleepers go on sleeping if their
    /// event is independent of the last one.
    pub(super) fn next<N>(
        &mut self,
        is_independent: impl Fn(&E) -> bool,
        any: impl FnOnce(&dyn Fn(Activity) -> bool) -> Result<Activity, N>,
    ) -> Result<Activity, N> {
        let start = self.sleepers.len();
        if let Some(last) = self.frames.last() {
            for index in last.sleepers..start {
                let Sleeper { activity, event } = &self.sleepers[index];
                if is_independent(event) {
                    let (activity, event) = (*activity, event.clone());
                    self.sleepers.push(Sleeper { activity, event });
                }
            }
        }
        let (activity, branches) = match self.forest.take(&mut self.ahead) {
            Some((activity, below)) => {
                let others = std::mem::replace(&mut self.ahead, below);
                (activity, others)
            }
            None => {
                let asleep = &self.sleepers[start..];
                let chosen = any(&|activity| asleep.iter().any(|who| who.activity == activity));
                match chosen {
                    Ok(activity) => (activity, Branches::EMPTY),
                    Err(none) => {
                        self.sleepers.truncate(start);
                        return Err(none);
                    }
                }
            }
        };
        self.frames.push(Frame {
            activity,
            branches,
            sleepers: start,
        });
        Ok(activity)
    }

    /// Back to the last step that is not the only one to be tried, and on to another, which is not in the history yet.
    /// Returns whether there is one.
    pub(super) fn go_back(&mut self, history: &mut History<E>) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            let (activity, event) = history.pop().expect("each step was taken");
            if let Some((next, below)) = self.forest.take(&mut frame.branches) {
                self.sleepers.push(Sleeper { activity, event });
                frame.activity = next;
                self.ahead = below;
                return true;
            }
            self.sleepers.truncate(frame.sleepers);
            self.frames.pop();
        }
        false
    }

    /// A race is to be tried the other way round, unless that was done or will be.
    pub(super) fn reverse<R: Runs<Event = E>>(
        &mut self,
        runs: &R,
        history: &History<E>,
        first: Moment,
        second: Second<'_, E>,
    ) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut reversal = Reversal::new(runs, history, first, second, buffer);
        let was_done = self
            .asleep(first)
            .iter()
            .any(|sleeper| reversal.meet(sleeper.activity, &sleeper.event) != Meeting::Conflict);
        if !was_done {
            self.insert(first, &mut reversal);
        }
        self.buffer = reversal.into_buffer();
    }

    /// Those who were asleep at the point before `moment`.
    fn asleep(&self, moment: Moment) -> &[Sleeper<E>] {
        let end = match self.frames.get(moment.index() + 1) {
            Some(next) => next.sleepers,
            None => self.sleepers.len(),
        };
        &self.sleepers[self.frames[moment.index()].sleepers..end]
    }

    /// Walks down the tree at the point before `moment` as far as it goes along with the reversal, and makes a branch of
    /// what is left. A walk that comes to a leaf leaves nothing: all that can follow is tried there.
    fn insert<R: Runs<Event = E>>(&mut self, moment: Moment, reversal: &mut Reversal<'_, R>) {
        let root = &mut self.frames[moment.index()].branches;
        let mut parent = None;
        let mut children = *root;
        loop {
            let along = self
                .forest
                .iter(children)
                .find_map(
                    |(child, activity, event)| match reversal.meet(activity, event) {
                        Meeting::First(position) => Some((child, Some(position))),
                        Meeting::Apart => Some((child, None)),
                        Meeting::Conflict => None,
                    },
                );
            let Some((child, position)) = along else {
                let branch = self.forest.grow(reversal.steps());
                match parent {
                    Some(parent) => self.forest.append_below(parent, branch),
                    None => self.forest.append(root, branch),
                }
                return;
            };
            if let Some(position) = position {
                reversal.remove(position);
            }
            children = self.forest.below(child);
            if children.is_empty() {
                return;
            }
            parent = Some(child);
        }
    }
}
