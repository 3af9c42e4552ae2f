//! What the strategies have in common: they are told of each step, and say who takes the next.
//!
//! There is one match for each question. It always goes the same way, which costs less than a loop for each strategy is
//! worth.

use super::{
    Strategy, enabled::Enabled, pct::Priorities, pctcp::Chains, pos::Pos, random::Random, urw::Urw,
};
use crate::{
    Activity,
    explore::{Run, Runs, Step},
};

/// A strategy with what it knows.
#[derive(Clone, Debug)]
pub(super) enum Chooser {
    Walk,
    Urw(Urw),
    Pct(Priorities),
    Pctcp(Priorities, Chains),
    Pos(Pos),
}

impl Chooser {
    pub(super) fn new(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Walk => Chooser::Walk,
            Strategy::Urw => Chooser::Urw(Urw::default()),
            Strategy::Pct { depth } => Chooser::Pct(Priorities::new(depth)),
            Strategy::Pctcp { depth } => Chooser::Pctcp(Priorities::new(depth), Chains::default()),
            Strategy::Pos => Chooser::Pos(Pos::default()),
        }
    }

    /// An execution begins.
    pub(super) fn begin(&mut self, run: &impl Run, random: &mut Random) {
        match self {
            Chooser::Walk => {}
            Chooser::Urw(urw) => urw.begin(run),
            Chooser::Pct(priorities) => priorities.begin(random),
            Chooser::Pctcp(priorities, chains) => {
                priorities.begin(random);
                chains.begin(run);
            }
            Chooser::Pos(pos) => pos.begin(),
        }
    }

    /// Who takes the next step. `None`: nobody can.
    #[inline]
    pub(super) fn choose<R: Runs>(
        &mut self,
        runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        match self {
            Chooser::Walk => enabled.any(run, random),
            Chooser::Urw(urw) => urw.choose(run, enabled, random),
            Chooser::Pct(priorities) => {
                let activity = |number: usize| Activity(number as u32);
                let is_enabled = |number| run.is_enabled(activity(number));
                let count = run.activities() as usize;
                priorities.choose(count, is_enabled, random).map(activity)
            }
            Chooser::Pctcp(priorities, chains) => {
                let chains = chains.as_slice();
                let is_enabled = |chain: usize| run.is_enabled(chains[chain]);
                priorities
                    .choose(chains.len(), is_enabled, random)
                    .map(|chain| chains[chain])
            }
            Chooser::Pos(pos) => pos.choose(runs, run, enabled.of(run), random),
        }
    }

    /// Whether it has to be told what each step comes after, by [`Chooser::step`].
    pub(super) fn has_to_know_why(&self) -> bool {
        matches!(self, Chooser::Pctcp(..))
    }

    /// Takes a step.
    pub(super) fn step(&mut self, run: &mut impl Run, step: Step) {
        match self {
            Chooser::Pctcp(_, chains) => chains.step(run, step),
            _ => run.step(step),
        }
    }

    /// A step was taken.
    #[inline]
    pub(super) fn took(&mut self, run: &impl Run, step: Step) {
        if let Chooser::Urw(urw) = self {
            urw.took(run, step);
        }
    }

    /// An execution is over that is one to learn from.
    pub(super) fn learn(&mut self, schedule: &[Step]) {
        match self {
            Chooser::Walk | Chooser::Pos(_) => {}
            Chooser::Urw(urw) => urw.learn(schedule),
            Chooser::Pct(priorities) | Chooser::Pctcp(priorities, _) => {
                priorities.learn(schedule.len());
            }
        }
    }
}
