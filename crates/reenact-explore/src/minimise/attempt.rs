//! Trying simpler schedules, one change at a time.

use std::{ops::Range, time::Instant};

use crate::{
    Runs, Step, Verdict, event_log::EventLog, follow::follow, linearise::linearise,
    schedule::switches,
};

/// The best schedule so far, and the remaining budget.
pub(super) struct Attempt<'a, R, F> {
    pub(super) runs: &'a R,
    pub(super) is_same: F,
    pub(super) most_steps: usize,
    /// The number of runs left.
    pub(super) left: u64,
    /// When to make no further attempt.
    pub(super) until: Option<Instant>,
    /// Its run satisfies `is_same`.
    pub(super) best: Vec<Step>,
}

impl<R: Runs, F: Fn(&R::Run, Verdict) -> bool> Attempt<'_, R, F> {
    /// Runs once, if the budget allows. Returns what happened if the run satisfies `is_same`.
    fn run(&mut self, prefix: &[Step], guide: &[Step]) -> Option<EventLog> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let followed = follow(self.runs, prefix, guide, self.most_steps, |_, _, _| ());
        followed
            .ok()
            .filter(|followed| (self.is_same)(&followed.run, followed.verdict))
            .map(|followed| followed.event_log)
    }

    /// Accepts an execution, with as few switches as possible, if it is better. Returns whether it is.
    pub(super) fn accept(&mut self, event_log: &EventLog) -> bool {
        let schedule = linearise(event_log, 0);
        let is_better =
            switches(&schedule) < switches(&self.best) && self.run(&schedule, &[]).is_some();
        if is_better {
            self.best = schedule;
        }
        is_better
    }

    /// Removes blocks: many at once first, since most of a schedule that was found at random is not needed.
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

    /// Merges two blocks of the same activity. Returns whether that was better.
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

    /// Follows these blocks in this order, and accepts the resulting execution if it is better.
    fn accept_order<'b>(&mut self, blocks: impl Iterator<Item = &'b Range<usize>>) -> bool {
        let steps = blocks.flat_map(|block| &self.best[block.clone()]);
        let guide: Vec<Step> = steps.copied().collect();
        match self.run(&[], &guide) {
            Some(event_log) => self.accept(&event_log),
            None => false,
        }
    }

    /// Forces as few steps as possible. Returns how many have to be forced.
    pub(super) fn shorten(&mut self) -> usize {
        let starts = blocks(&self.best).into_iter().map(|block| block.start + 1);
        for forced in std::iter::once(0).chain(starts) {
            let prefix = self.best[..forced].to_vec();
            if let Some(event_log) = self.run(&prefix, &[]) {
                let schedule = event_log.schedule();
                if switches(schedule) <= switches(&self.best) {
                    self.best = schedule.to_vec();
                    return forced;
                }
            }
        }
        self.best.len()
    }
}

/// The maximal blocks of consecutive steps of one activity.
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
