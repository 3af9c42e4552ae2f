//! What the strategies have in common: they are told of each step, and say who takes the next.

use super::{
    enabled::Enabled, pct::Priorities, pctcp::Chains, pos::Pos, random::Random, strategy::Strategy,
    urw::Urw,
};
use crate::{
    Activity,
    explore::{Run, Runs, Step},
};

/// One who says who takes the next step.
pub(super) trait Chooses {
    /// An execution begins.
    fn begin(&mut self, run: &impl Run, random: &mut Random);

    /// Who takes the next step. `None`: nobody can.
    fn choose<R: Runs>(
        &mut self,
        runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity>;

    /// A step was taken.
    #[inline]
    fn took(&mut self, _run: &impl Run, _step: Step) {}

    /// Takes the steps that `next` names.
    #[inline]
    fn drive<R: Run>(&mut self, run: &mut R, mut next: impl FnMut(&mut Self, &R) -> Option<Step>) {
        run.go_on(&mut |run| next(self, run));
    }

    /// An execution is over that is one to learn from.
    fn learn(&mut self, _schedule: &[Step]) {}
}

/// A strategy with what it knows.
#[derive(Clone, Debug)]
pub(super) enum Chooser {
    Walk,
    Urw(Urw),
    Pct(Priorities),
    Pctcp(Chained),
    Pos(Pos),
}

impl Chooser {
    /// Those of a strategy, and which of them takes each turn, again and again. Each learns from its own executions only: that is
    /// less than all of them tell, but they need not know of each other.
    pub(super) fn of(strategy: Strategy) -> (Vec<Chooser>, &'static [usize]) {
        let urw = Chooser::Urw(Urw::default());
        let pct = |depth| Chooser::Pct(Priorities::new(depth));
        let chooser = match strategy {
            Strategy::Mixed => return (vec![urw, pct(3)], &[0, 0, 1]),
            Strategy::Walk => Chooser::Walk,
            Strategy::Urw => urw,
            Strategy::Pct { depth } => pct(depth),
            Strategy::Pctcp { depth } => Chooser::Pctcp(Chained {
                priorities: Priorities::new(depth),
                chains: Chains::default(),
            }),
            Strategy::Pos => Chooser::Pos(Pos::default()),
        };
        (vec![chooser], &[0])
    }
}

/// Each one who can go on is as likely as the others.
pub(super) struct Walk;

impl Chooses for Walk {
    fn begin(&mut self, _run: &impl Run, _random: &mut Random) {}

    #[inline]
    fn choose<R: Runs>(
        &mut self,
        _runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        enabled.any(run, random)
    }
}

impl Chooses for Priorities {
    fn begin(&mut self, _run: &impl Run, random: &mut Random) {
        self.restart(random);
    }

    #[inline]
    fn choose<R: Runs>(
        &mut self,
        _runs: &R,
        run: &R::Run,
        _enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        let activity = |number: usize| Activity(number as u32);
        let is_enabled = |number| run.is_enabled(activity(number));
        let count = run.activities() as usize;
        self.highest(count, is_enabled, random).map(activity)
    }

    fn learn(&mut self, schedule: &[Step]) {
        self.learn_length(schedule.len());
    }
}

/// Priorities of chains.
#[derive(Clone, Debug)]
pub(super) struct Chained {
    priorities: Priorities,
    chains: Chains,
}

impl Chooses for Chained {
    fn begin(&mut self, run: &impl Run, random: &mut Random) {
        self.priorities.restart(random);
        self.chains.begin(run);
    }

    #[inline]
    fn choose<R: Runs>(
        &mut self,
        _runs: &R,
        run: &R::Run,
        _enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity> {
        let chains = self.chains.as_slice();
        let is_enabled = |chain: usize| run.is_enabled(chains[chain]);
        let chosen = self.priorities.highest(chains.len(), is_enabled, random);
        chosen.map(|chain| chains[chain])
    }

    /// What belongs to one chain shows in what steps come after.
    fn drive<R: Run>(&mut self, run: &mut R, mut next: impl FnMut(&mut Self, &R) -> Option<Step>) {
        while let Some(step) = next(self, run) {
            self.chains.step(run, step);
        }
    }

    fn learn(&mut self, schedule: &[Step]) {
        self.priorities.learn_length(schedule.len());
    }
}
