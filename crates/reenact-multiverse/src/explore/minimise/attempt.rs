//! Trying simpler schedules, one change at a time.

use std::ops::Range;

use crate::explore::{
    Runs, Step, Verdict, chronicle::Chronicle, follow::follow, linearise::linearise,
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
    /// Runs, if the budget allows, and returns what happened if it ends as it should.
    fn run(&mut self, prefix: &[Step], guide: &[Step]) -> Option<Chronicle> {
        self.left = self.left.checked_sub(1)?;
        let followed = follow(self.runs, prefix, guide, self.most_steps, |_, _, _| ());
        followed
            .ok()
            .filter(|followed| (self.is_same)(&followed.run, followed.verdict))
            .map(|followed| followed.chronicle)
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

    /// Leaves out blocks: many at once first, since most of a schedule that was found by chance is not needed.
    pub(super) fn leave_out(&mut self) {
        let mut count = blocks(&self.best).len();
        while count > 0 {
            let mut at = 0;
            loop {
                let blocks = blocks(&self.best);
                if at >= blocks.len() {
                    break;
                }
                let end = blocks.len().min(at + count);
                let kept = blocks[..at].iter().chain(&blocks[end..]);
                if !self.accept_order(kept) {
                    at += count;
                }
            }
            count /= 2;
        }
    }

    /// Puts two blocks together. Returns whether that was better.
    pub(super) fn put_together(&mut self) -> bool {
        let blocks = blocks(&self.best);
        for at in 0..blocks.len() {
            let activity = self.best[blocks[at].start].activity;
            let mut later = at + 1..blocks.len();
            let next = later.find(|&next| self.best[blocks[next].start].activity == activity);
            if let Some(next) = next {
                let (before, between) = (&blocks[..at], &blocks[at + 1..next]);
                let (pair, after) = ([&blocks[at], &blocks[next]], &blocks[next + 1..]);
                let early = before.iter().chain(pair).chain(between).chain(after);
                let late = before.iter().chain(between).chain(pair).chain(after);
                if self.accept_order(early) || self.accept_order(late) {
                    return true;
                }
            }
        }
        false
    }

    /// Goes along with these blocks, in this order, and accepts what comes of it.
    fn accept_order<'b>(&mut self, blocks: impl Iterator<Item = &'b Range<usize>>) -> bool {
        let steps = blocks.flat_map(|block| &self.best[block.clone()]);
        let guide: Vec<Step> = steps.copied().collect();
        match self.run(&[], &guide) {
            Some(chronicle) => self.accept(&chronicle),
            None => false,
        }
    }

    /// Leaves as much as possible to the program. Returns how many steps have to be forced.
    pub(super) fn shorten(&mut self) -> usize {
        let starts = blocks(&self.best).into_iter().map(|block| block.start + 1);
        for forced in std::iter::once(0).chain(starts) {
            let prefix = self.best[..forced].to_vec();
            if let Some(chronicle) = self.run(&prefix, &[]) {
                let schedule = chronicle.schedule();
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
