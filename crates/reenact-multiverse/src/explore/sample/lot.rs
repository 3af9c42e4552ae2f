//! One execution after the other, as chance has it.

use super::{chooser::Chooser, enabled::Enabled, random::Random};
use crate::explore::{
    Limit, Report, Run, Runs, Seen, Step, Verdict,
    pace::{Pace, count},
};

/// Strategies learn from so many executions. They are run before all others, so that what is learned, and with it every
/// later execution, depends on nothing but the seed.
pub(super) const LEARNED_FROM: u64 = 16;

/// What executions have in common, and the room that each needs.
pub(super) struct Lot {
    chooser: Chooser,
    seed: u64,
    most_steps: usize,
    enabled: Enabled,
    schedule: Vec<Step>,
}

impl Lot {
    pub(super) fn new(chooser: Chooser, seed: u64, most_steps: Option<u32>) -> Self {
        Lot {
            chooser,
            seed,
            most_steps: most_steps.map_or(usize::MAX, |most| most as usize),
            enabled: Enabled::default(),
            schedule: Vec::new(),
        }
    }

    /// Another one that has learned the same.
    pub(super) fn split(&self) -> Lot {
        Lot {
            chooser: self.chooser.clone(),
            enabled: Enabled::default(),
            schedule: Vec::new(),
            ..*self
        }
    }

    /// Runs once, shows it, and adds it to the report. Returns why it is to be the last one.
    pub(super) fn draw<R: Runs>(
        &mut self,
        runs: &R,
        number: u64,
        pace: &Pace<'_>,
        report: &mut Report,
        visit: impl FnOnce(&Seen<'_, R>),
    ) -> Option<Limit> {
        let (run, verdict) = self.execute(runs, number);
        if number < LEARNED_FROM {
            self.chooser.learn(&self.schedule);
        }
        visit(&Seen {
            number,
            verdict,
            run: &run,
            schedule: &self.schedule,
        });
        count(&mut report.progress, verdict);
        report.progress.steps += self.schedule.len() as u64;
        if let (Verdict::Cut, Some(most)) = (verdict, pace.budget.steps) {
            report.coverage.stop(Limit::Steps(most));
        }
        pace.stops_at(verdict).then_some(Limit::Failure)
    }

    fn execute<R: Runs>(&mut self, runs: &R, number: u64) -> (R::Run, Verdict) {
        let mut random = Random::of(self.seed, number);
        let mut run = runs.start();
        let Lot {
            chooser,
            schedule,
            enabled,
            ..
        } = self;
        schedule.clear();
        chooser.begin(&run, &mut random);
        let mut is_cut = false;
        let mut next = |chooser: &mut Chooser, run: &R::Run| {
            if let Some(&last) = schedule.last() {
                chooser.took(run, last);
            }
            let activity = chooser.choose(runs, run, enabled, &mut random)?;
            is_cut = schedule.len() >= self.most_steps;
            if is_cut {
                return None;
            }
            let choice = match run.choices(activity) {
                1 => 0,
                ways => random.below(ways.into()) as u32,
            };
            let step = Step { activity, choice };
            schedule.push(step);
            Some(step)
        };
        if chooser.has_to_know_why() {
            while let Some(step) = next(chooser, &run) {
                chooser.step(&mut run, step);
            }
        } else {
            run.go_on(&mut |run| next(chooser, run));
        }
        let verdict = match is_cut {
            true => Verdict::Cut,
            false => run.verdict(),
        };
        (run, verdict)
    }
}
