//! Questions about what is near an execution.

use std::{collections::BTreeMap, hash::Hash, ops::ControlFlow};

use super::Around;
use crate::explore::{
    Misfit, Runs, Step, Verdict, follow::Followed, linearise::linearise, schedule::switches,
};

/// An execution that is as near as one of its kind can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// The steps, with as few switches as possible.
    pub schedule: Vec<Step>,
    /// How it ends.
    pub verdict: Verdict,
    /// How many changes it is away.
    pub distance: u32,
}

impl Closest {
    fn of<R: Runs>(followed: &Followed<R>, from: usize, distance: u32) -> Self {
        Closest {
            schedule: linearise(&followed.chronicle, from),
            verdict: followed.verdict,
            distance,
        }
    }

    /// Nearer, or as near and with fewer switches.
    fn is_better_than(&self, other: &Closest) -> bool {
        let key = |closest: &Closest| (closest.distance, switches(&closest.schedule));
        key(self) < key(other)
    }
}

impl<R: Runs> Around<'_, R>
where
    R::Event: Hash,
{
    /// The closest execution of some kind: of those at the smallest distance, one with the fewest switches. `None`: there
    /// is none, or it is out of reach or beyond the budget.
    pub fn closest(
        self,
        mut is_one: impl FnMut(&R::Run, Verdict) -> bool,
    ) -> Result<Option<Closest>, Misfit> {
        let from = self.from.index();
        let mut best: Option<Closest> = None;
        self.explore(|followed, _, distance| {
            if best.as_ref().is_some_and(|best| best.distance < distance) {
                return ControlFlow::Break(());
            }
            if is_one(&followed.run, followed.verdict) {
                keep(&mut best, Closest::of(followed, from, distance));
            }
            ControlFlow::Continue(())
        })?;
        Ok(best)
    }

    /// The closest execution in which everyone comes to an end.
    pub fn closest_good(self) -> Result<Option<Closest>, Misfit> {
        self.closest(|_, verdict| verdict == Verdict::Finished)
    }

    /// The closest execution that fails, or in which some wait for ever.
    pub fn closest_bad(self) -> Result<Option<Closest>, Misfit> {
        self.closest(|_, verdict| verdict.is_bad())
    }

    /// What can come of it, and the closest execution with which it does.
    pub fn outcomes<K: Ord>(
        self,
        mut outcome: impl FnMut(&R::Run, Verdict) -> K,
    ) -> Result<BTreeMap<K, Closest>, Misfit> {
        let from = self.from.index();
        let mut outcomes = BTreeMap::new();
        self.explore(|followed, _, distance| {
            let best = outcomes.entry(outcome(&followed.run, followed.verdict));
            let closest = Closest::of(followed, from, distance);
            keep(best.or_insert(None), closest);
            ControlFlow::Continue(())
        })?;
        let found = outcomes.into_iter();
        Ok(found
            .filter_map(|(outcome, best)| Some((outcome, best?)))
            .collect())
    }
}

/// Keeps the better one.
fn keep(best: &mut Option<Closest>, found: Closest) {
    if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
        *best = Some(found);
    }
}
