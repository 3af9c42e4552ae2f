//! What has been tried and what is to be tried, for each step of the current execution.
//!
//! The sleepers of all steps are in one vector, because only those of the last step grow.

use super::{
    clocked_log::ClockedLog,
    portion::{Level, Portion},
    reversal::{Meeting, Reversal},
    wakeup::{BranchPosition, Branches, Forest, Planned, Taken},
};
use crate::{Moment, Runs, Step};

/// A point of the current execution.
struct ChoicePoint {
    /// The step that is taken.
    step: Step,
    /// What is to be tried instead.
    branches: Branches,
    /// Where its sleepers begin. They end where those of the next frame begin.
    sleepers: usize,
    /// How many other steps have been tried before.
    finished: u32,
    /// Whether the step was planned when some of its sleepers were known only in their announced form.
    is_early: bool,
}

/// A step that has been tried, and that no dependent step has woken since.
struct SleepingStep<E> {
    step: Step,
    event: E,
    /// What the step announced, if it turned out to do something else.
    announced: Option<E>,
    /// Whether the step is tried in another portion, so that races with it are not found in this one.
    is_elsewhere: bool,
}

/// The steps of the current execution, and what else is to be tried.
///
/// # Invariants
///
/// 1. A step that is asleep at a point is enabled there, and is neither taken nor the first of a branch.
/// 2. Nothing is planned beyond the end of an execution: `ahead` is then empty.
pub(super) struct Plan<E> {
    /// The common prefix of all executions. Alternatives to it are not tried here.
    levels: Vec<Level<E>>,
    frames: Vec<ChoicePoint>,
    sleepers: Vec<SleepingStep<E>>,
    forest: Forest<E>,
    /// What is planned after the last step.
    ahead: Branches,
    /// What the last step is expected to do, if it was planned.
    expected: Option<E>,
    /// Empty, to be reused.
    buffer: Vec<Moment>,
}

impl<E: Clone> Plan<E> {
    pub(super) fn within(portion: Portion<E>) -> Self {
        Plan {
            levels: portion.levels,
            frames: Vec::new(),
            sleepers: Vec::new(),
            forest: Forest::new(),
            ahead: Branches::EMPTY,
            expected: None,
            buffer: Vec::new(),
        }
    }

    /// The last step.
    pub(super) fn step(&self) -> Option<Step> {
        self.frames.last().map(|frame| frame.step)
    }

    /// What the last step is expected to do, if it was planned.
    pub(super) fn expected(&self) -> Option<&E> {
        self.expected.as_ref()
    }

    /// Adds a step: a planned one, or else the one that `any` chooses, given a test for steps that are asleep. A
    /// sleeper stays asleep if its activity is not that of the last step and its event is independent of it.
    ///
    /// A branch is dropped if its step is asleep. That happens when the last event turns out to do less than announced,
    /// and does not wake the sleeper although the plan assumed so.
    pub(super) fn next<N>(
        &mut self,
        is_independent: impl Fn(&E) -> bool,
        any: impl FnOnce(&dyn Fn(Step) -> bool) -> Result<Step, N>,
    ) -> Result<Step, N> {
        let start = self.sleepers.len();
        if let Some(last) = self.frames.last() {
            for index in last.sleepers..start {
                let SleepingStep {
                    step,
                    event,
                    announced,
                    is_elsewhere,
                } = &self.sleepers[index];
                let event = match announced {
                    Some(announced) if last.is_early => announced,
                    _ => event,
                };
                if step.activity != last.step.activity && is_independent(event) {
                    let sleeper = SleepingStep {
                        step: *step,
                        event: event.clone(),
                        announced: None,
                        is_elsewhere: *is_elsewhere,
                    };
                    self.sleepers.push(sleeper);
                }
            }
        }
        if let Some(level) = self.levels.get(self.frames.len()) {
            self.sleepers.extend(
                level
                    .asleep
                    .iter()
                    .cloned()
                    .map(|(step, event)| SleepingStep {
                        step,
                        event,
                        announced: None,
                        is_elsewhere: true,
                    }),
            );
            self.frames.push(ChoicePoint {
                step: level.step,
                branches: Branches::EMPTY,
                sleepers: start,
                finished: 0,
                is_early: false,
            });
            return Ok(level.step);
        }
        let is_asleep = |step| {
            let mut asleep = self.sleepers[start..].iter();
            asleep.any(|sleeper| sleeper.step == step)
        };
        let (step, branches) = match self
            .forest
            .take_where(&mut self.ahead, |step| !is_asleep(step))
        {
            Some(Taken { planned, below, .. }) => {
                self.expected = Some(planned.event);
                (planned.step, std::mem::replace(&mut self.ahead, below))
            }
            None => {
                self.expected = None;
                match any(&is_asleep) {
                    Ok(step) => (step, Branches::EMPTY),
                    Err(none) => {
                        self.sleepers.truncate(start);
                        return Err(none);
                    }
                }
            }
        };
        self.frames.push(ChoicePoint {
            step,
            branches,
            sleepers: start,
            finished: 0,
            is_early: false,
        });
        Ok(step)
    }

    /// Goes back to the last step with an untried alternative, and replaces it with that alternative, which is not in
    /// the log yet. Returns whether there is one.
    pub(super) fn go_back(
        &mut self,
        log: &mut ClockedLog<E>,
        is_dependent: impl Fn(&E, &E) -> bool,
    ) -> bool {
        while self.frames.len() > self.levels.len()
            && let Some(frame) = self.frames.last_mut()
        {
            let (step, event, announced) = log.pop().expect("each step was taken");
            self.sleepers.push(SleepingStep {
                step,
                event,
                announced,
                is_elsewhere: false,
            });
            let asleep = &self.sleepers[frame.sleepers..];
            let is_awake = |step| !asleep.iter().any(|sleeper| sleeper.step == step);
            if let Some(next) = self.forest.take_where(&mut frame.branches, is_awake) {
                frame.step = next.planned.step;
                frame.finished += 1;
                frame.is_early = next.planned.is_early
                    && asleep.iter().any(|sleeper| {
                        let is_woken = |planned: &Planned<E>| {
                            planned.step.activity != sleeper.step.activity
                                && is_dependent(&sleeper.event, &planned.event)
                        };
                        let is_it = |planned: &Planned<E>| planned.step == sleeper.step;
                        sleeper.announced.is_some()
                            && !is_woken(&next.planned)
                            && !self.forest.comes_to(next.below, is_woken, is_it)
                    });
                self.expected = Some(next.planned.event);
                self.ahead = next.below;
                return true;
            }
            self.sleepers.truncate(frame.sleepers);
            self.frames.pop();
        }
        false
    }

    /// Replaces the last step, which was planned but is not enabled, with another one planned at the same point. If
    /// there is none, removes the step.
    pub(super) fn another(&mut self) -> Option<Step> {
        let frame = self.frames.last_mut()?;
        let asleep = &self.sleepers[frame.sleepers..];
        let is_awake = |step| !asleep.iter().any(|sleeper| sleeper.step == step);
        if let Some(next) = self.forest.take_where(&mut frame.branches, is_awake) {
            frame.step = next.planned.step;
            self.expected = Some(next.planned.event);
            self.ahead = next.below;
            return Some(frame.step);
        }
        self.sleepers.truncate(frame.sleepers);
        self.frames.pop();
        self.ahead = Branches::EMPTY;
        self.expected = None;
        None
    }

    /// The fraction of all executions that has been run, assuming that all steps known to be tried at a point take
    /// equally long.
    pub(super) fn share(&self) -> f64 {
        let mut share = 0.0;
        let mut of_all = 1.0;
        for frame in &self.frames {
            let waiting = self.forest.iter(frame.branches).count();
            of_all /= f64::from(frame.finished) + 1.0 + waiting as f64;
            share += of_all * f64::from(frame.finished);
        }
        share
    }

    /// Notes that the last step did less than announced.
    ///
    /// Alternatives planned at this point may then turn out to be equivalent to something that follows this step, and
    /// should have been planned there. Where exactly is unknown, so they are tried where they are: there, this step
    /// sleeps in its announced form, and executions may be equivalent to others.
    pub(super) fn was_not_as_announced(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.forest.mark_early(frame.branches);
        }
    }

    /// Takes the empty buffer, for [`Reversal`].
    pub(super) fn take_buffer(&mut self) -> Vec<Moment> {
        std::mem::take(&mut self.buffer)
    }

    /// Plans the reversal of a race or another choice, unless it was tried or is already planned.
    pub(super) fn reverse<R: Runs<Event = E>>(&mut self, reversal: Reversal<'_, R>) {
        if reversal.first().index() < self.levels.len() {
            self.buffer = reversal.into_buffer();
            return;
        }
        let was_done = self.asleep(reversal.first()).iter().any(|sleeper| {
            match reversal.meet(sleeper.step, &sleeper.event) {
                Meeting::First(_) => true,
                // Later events may be dependent on the sleeper, which is found where it is tried: here, or in another
                // portion.
                Meeting::Independent => !sleeper.is_elsewhere,
                Meeting::Conflict => false,
            }
        });
        self.buffer = if was_done {
            reversal.into_buffer()
        } else {
            self.insert(reversal)
        };
    }

    /// Walks down the wakeup tree at the point before the reversal as far as it matches, and adds the rest as a branch.
    /// If the walk reaches a leaf, nothing is added: everything that can follow is tried there, and no sleeper there
    /// would have to be woken. This is not known for a leaf that may do less than expected.
    fn insert<R: Runs<Event = E>>(&mut self, reversal: Reversal<'_, R>) -> Vec<Moment> {
        let at = reversal.first().index();
        let mut walks = Vec::new();
        let mut walk = (None, reversal);
        loop {
            let (mut place, mut reversal) = walk;
            while !reversal.is_empty() {
                let branches = match place {
                    Some(place) => self.forest.at(place),
                    None => self.frames[at].branches,
                };
                let along = self.goes_along(branches, &reversal);
                let Some((child, is_certain, meeting)) = along else {
                    let branch = self.forest.grow(reversal.steps());
                    match place {
                        Some(place) => self.forest.append_at(place, branch),
                        None => self.forest.append(&mut self.frames[at].branches, branch),
                    }
                    break;
                };
                if let Meeting::First(position) = meeting {
                    reversal.remove(position);
                } else if !is_certain {
                    walks.push((Some(BranchPosition::Beside(child)), reversal.clone()));
                }
                let below = BranchPosition::Below(child);
                if is_certain && self.forest.at(below).is_empty() {
                    break;
                }
                place = Some(below);
            }
            match walks.pop() {
                Some(next) => walk = next,
                None => return reversal.into_buffer(),
            }
        }
    }

    /// The first branch that matches the reversal, whether it is certain, and how it matches.
    fn goes_along<R: Runs<Event = E>>(
        &self,
        branches: Branches,
        reversal: &Reversal<'_, R>,
    ) -> Option<(Branches, bool, Meeting)> {
        self.forest.iter(branches).find_map(|(child, planned)| {
            let meeting = reversal.meet(planned.step, &planned.event);
            (meeting != Meeting::Conflict).then_some((child, planned.is_certain, meeting))
        })
    }

    /// The sleepers at the point before `moment`.
    fn asleep(&self, moment: Moment) -> &[SleepingStep<E>] {
        let end = match self.frames.get(moment.index() + 1) {
            Some(next) => next.sleepers,
            None => self.sleepers.len(),
        };
        &self.sleepers[self.frames[moment.index()].sleepers..end]
    }
}
