//! Trying simpler schedules, one change at a time.

use std::ops::Range;

use crate::explore::{
    Runs, Step, Verdict,
    chronicle::Chronicle,
    follow::{Followed, follow},
    linearise::linearise,
    schedule::switches,
};

/// The best schedule so far, and what is left of the budget.
pub(super) struct Attempt<'a, R, F> {
    pub(super) runs: &'a R,
    pub(super) is_same: F,
    pub(super) most_steps: usize,
    /// So many runs.
    pub(super) left: u64,
    /// It leads to the end that is looked for.
    pub(super) best: Vec<Step>,
}

impl<R: Runs, F: Fn(&R::Run, Verdict) -> bool> Attempt<'_, R, F> {
    /// Runs, if the budget allows, and returns it if it ends as it should.
    fn run(&mut self, prefix: &[Step], guide: &[Step]) -> Option<Followed<R>> {
        self.left = self.left.checked_sub(1)?;
        let followed = follow(self.runs, prefix, guide, self.most_steps, |_, _, _| ());
        followed
            .ok()
            .filter(|followed| (self.is_same)(&followed.run, followed.verdict))
    }

    /// Takes an execution of the right kind, with as few switches as possible, if that is better. Returns whether it is.
    pub(super) fn accept(&mut self, chronicle: &Chronicle) -> bool {
        let schedule = linearise(chronicle, 0);
        let is_better =
            switches(&schedule) < switches(&self.best) && self.run(&schedule, &[]).is_some();
        if is_better {
            self.best = schedule;
        }
        is_better
    }

    /// Puts two blocks together, or leaves one out. Returns whether that was better.
    pub(super) fn simplify(&mut self) -> bool {
        let blocks = blocks(&self.best);
        for at in 0..blocks.len() {
            let activity = self.best[blocks[at].start].activity;
            let next = (at + 1..blocks.len())
                .find(|&next| self.best[blocks[next].start].activity == activity);
            let mut changes = vec![reorder(&blocks, at, None)];
            if let Some(next) = next {
                changes.push(reorder(&blocks, next, Some(at + 1)));
                changes.push(reorder(&blocks, at, Some(next)));
            }
            for change in changes {
                let steps = change.into_iter().flat_map(|block| &self.best[block]);
                let guide: Vec<Step> = steps.copied().collect();
                if let Some(followed) = self.run(&[], &guide)
                    && self.accept(&followed.chronicle)
                {
                    return true;
                }
            }
        }
        false
    }

    /// Leaves as much as possible to the program. Returns how many steps have to be forced.
    pub(super) fn shorten(&mut self) -> usize {
        let starts = blocks(&self.best).into_iter().map(|block| block.start + 1);
        for forced in std::iter::once(0).chain(starts) {
            let prefix = self.best[..forced].to_vec();
            if let Some(followed) = self.run(&prefix, &[]) {
                let schedule = followed.chronicle.schedule();
                if switches(schedule) <= switches(&self.best) {
                    self.best = schedule.to_vec();
                    return forced;
                }
            }
        }
        self.best.len()
    }
}

/// The blocks of steps of one activity.
fn blocks(schedule: &[Step]) -> Vec<Range<usize>> {
    let mut end = 0;
    schedule
        .chunk_by(|a, b| a.activity == b.activity)
        .map(|block| {
            let start = end;
            end += block.len();
            start..end
        })
        .collect()
}

/// The blocks with the one at `from` in front of the one at `to`, or nowhere.
fn reorder(blocks: &[Range<usize>], from: usize, to: Option<usize>) -> Vec<Range<usize>> {
    let mut order = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        if to == Some(at) {
            order.push(blocks[from].clone());
        }
        if at != from {
            order.push(block.clone());
        }
    }
    order
}
