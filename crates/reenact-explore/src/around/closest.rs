//! Queries for executions near a given one.

use std::{collections::BTreeMap, hash::Hash, ops::ControlFlow};

use super::Around;
use crate::{
    Divergence, Runs, Step, Verdict, follow::EndedRun, linearise::linearise, schedule::switches,
};

/// The closest execution that satisfies a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// The steps, with as few switches as possible.
    pub schedule: Vec<Step>,
    /// The verdict of the execution.
    pub verdict: Verdict,
    /// The number of changes from the given execution.
    pub distance: u32,
}

impl Closest {
    fn of<R: Runs>(followed: &EndedRun<R>, from: usize, distance: u32) -> Self {
        Closest {
            schedule: linearise(&followed.event_log, from),
            verdict: followed.verdict,
            distance,
        }
    }

    /// Returns whether this one has a smaller distance, or the same distance and fewer switches.
    fn is_better_than(&self, other: &Closest) -> bool {
        let key = |closest: &Closest| (closest.distance, switches(&closest.schedule));
        key(self) < key(other)
    }
}

impl<R: Runs> Around<'_, R>
where
    R::Event: Hash,
{
    /// Finds the closest execution that satisfies `is_one`: of those at the smallest distance, one with the fewest
    /// switches. `None` if there is none within the distance and the budget.
    pub fn closest(
        self,
        mut is_one: impl FnMut(&R::Run, Verdict) -> bool,
    ) -> Result<Option<Closest>, Divergence> {
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

    /// Finds the closest execution in which all activities end.
    pub fn closest_good(self) -> Result<Option<Closest>, Divergence> {
        self.closest(|_, verdict| verdict == Verdict::Finished)
    }

    /// Finds the closest execution that fails or deadlocks.
    pub fn closest_bad(self) -> Result<Option<Closest>, Divergence> {
        self.closest(|_, verdict| verdict.is_bad())
    }

    /// Finds all outcomes, and for each the closest execution that has it.
    pub fn outcomes<K: Ord>(
        self,
        mut outcome: impl FnMut(&R::Run, Verdict) -> K,
    ) -> Result<BTreeMap<K, Closest>, Divergence> {
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

/// Keeps the better of the two.
fn keep(best: &mut Option<Closest>, found: Closest) {
    if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
        *best = Some(found);
    }
}
