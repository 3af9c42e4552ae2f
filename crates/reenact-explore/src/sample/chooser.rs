//! The interface of the random strategies: they choose the activity of the next step and observe each step.

use super::{
    enabled::Enabled, pct::Priorities, pctcp::Chains, pos::Pos, random::Random,
    strategy::RandomStrategy, urw::Urw,
};
use crate::{Activity, Run, Runs, Step};

/// Chooses the activity of the next step.
pub(super) trait Chooses {
    /// Starts an execution.
    fn begin(&mut self, run: &impl Run, random: &mut Random);

    /// Chooses the activity of the next step. `None` if no activity is enabled.
    fn choose<R: Runs>(
        &mut self,
        runs: &R,
        run: &R::Run,
        enabled: &mut Enabled,
        random: &mut Random,
    ) -> Option<Activity>;

    /// Observes that a step was taken.
    #[inline]
    fn took(&mut self, _run: &impl Run, _step: Step) {}

    /// Takes the steps that `next` returns.
    #[inline]
    fn drive<R: Run>(&mut self, run: &mut R, mut next: impl FnMut(&mut Self, &R) -> Option<Step>) {
        run.go_on(&mut |run| next(self, run));
    }

    /// Learns from a finished execution.
    fn learn(&mut self, _schedule: &[Step]) {}
}

/// A strategy with its state.
#[derive(Clone, Debug)]
pub(super) enum Chooser {
    Walk,
    Urw(Urw),
    Pct(Priorities),
    Pctcp(Chained),
    Pos(Pos),
}

impl Chooser {
    /// The choosers of a strategy, and the cyclic order in which they take turns. Each learns only from its own
    /// executions, so that they need not know of each other.
    pub(super) fn of(strategy: RandomStrategy) -> (Vec<Chooser>, &'static [usize]) {
        let urw = Chooser::Urw(Urw::default());
        let pct = |depth| Chooser::Pct(Priorities::new(depth));
        let chooser = match strategy {
            RandomStrategy::Mixed => return (vec![urw, pct(3)], &[0, 0, 1]),
            RandomStrategy::Walk => Chooser::Walk,
            RandomStrategy::Urw => urw,
            RandomStrategy::Pct { depth } => pct(depth),
            RandomStrategy::Pctcp { depth } => Chooser::Pctcp(Chained {
                priorities: Priorities::new(depth),
                chains: Chains::default(),
            }),
            RandomStrategy::Pos => Chooser::Pos(Pos::default()),
        };
        (vec![chooser], &[0])
    }
}

/// Chooses each enabled activity with equal probability.
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

    /// Uses `step_at`: chains are built from the links of each step.
    fn drive<R: Run>(&mut self, run: &mut R, mut next: impl FnMut(&mut Self, &R) -> Option<Step>) {
        while let Some(step) = next(self, run) {
            self.chains.step(run, step);
        }
    }

    fn learn(&mut self, schedule: &[Step]) {
        self.priorities.learn_length(schedule.len());
    }
}
