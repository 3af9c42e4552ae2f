//! Strategies that take turns: the number of an execution says whose it is.
//!
//! Each learns from its own executions only. That is less than all of them tell, but they need not know of each other.

use super::{chooser::Chooser, lot::Lot, strategy::Strategy};
use crate::explore::{Limit, Report, Runs, Seen, pace::Pace};

/// Those who take turns.
pub(super) struct Turns {
    lots: Vec<Lot>,
    /// Whose turn it is, again and again. At least one.
    order: Vec<usize>,
}

impl Turns {
    pub(super) fn new(strategy: Strategy, seed: u64, most_steps: Option<u32>) -> Self {
        let turns = strategy.turns();
        let mut singles = turns.clone();
        singles.dedup();
        let at = |turn| singles.iter().position(|single| single == turn);
        let order = turns.iter().filter_map(at).collect();
        let lots = singles.iter();
        let lots = lots.map(|&single| Lot::new(Chooser::new(single), seed, most_steps));
        Turns {
            lots: lots.collect(),
            order,
        }
    }

    /// Others that have learned the same.
    pub(super) fn split(&self) -> Turns {
        Turns {
            lots: self.lots.iter().map(Lot::split).collect(),
            order: self.order.clone(),
        }
    }

    /// See [`Lot::draw`].
    #[inline]
    pub(super) fn draw<R: Runs>(
        &mut self,
        runs: &R,
        number: u64,
        pace: &Pace<'_>,
        report: &mut Report,
        visit: impl FnOnce(&Seen<'_, R>),
    ) -> Option<Limit> {
        let turn = self.order[(number % self.order.len() as u64) as usize];
        self.lots[turn].draw(runs, number, pace, report, visit)
    }
}
