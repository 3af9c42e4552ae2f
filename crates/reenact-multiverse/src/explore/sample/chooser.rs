//! What the strategies have in common: they are told of each step, and say who takes the next.
//!
//! There is one match for each question. It always goes the same way, which costs less than a loop for each strategy is
//! worth.

use super::{Strategy, pct::Priorities, pctcp::Chains, pos::Pos, random::Random, urw::Urw};
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

    /// Who takes the next step, of those who can. There is at least one.
    #[inline]
    pub(super) fn choose<R: Runs>(
        &mut self,
        runs: &R,
        run: &R::Run,
        enabled: &[Activity],
        random: &mut Random,
    ) -> Activity {
        match self {
            Chooser::Walk => enabled[random.below(enabled.len() as u64) as usize],
            Chooser::Urw(urw) => urw.choose(enabled, random),
            Chooser::Pct(priorities) => {
                priorities.choose(enabled, |activity| activity.0 as usize, random)
            }
            Chooser::Pctcp(priorities, chains) => {
                priorities.choose(enabled, |activity| chains.of(activity), random)
            }
            Chooser::Pos(pos) => pos.choose(runs, run, enabled, random),
        }
    }

    /// Takes the step.
    #[inline]
    pub(super) fn step(&mut self, run: &mut impl Run, step: Step) {
        match self {
            Chooser::Walk | Chooser::Pct(_) | Chooser::Pos(_) => run.step(step),
            Chooser::Urw(urw) => {
                run.step(step);
                urw.took(run, step);
            }
            Chooser::Pctcp(_, chains) => chains.step(run, step),
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
