//! Runs one random execution at a time.

use super::{
    chooser::{Chooser, Chooses, Walk},
    enabled::Enabled,
    random::Random,
    strategy::RandomStrategy,
};
use crate::{Limit, Report, Run, Runs, Seen, Step, Verdict, budget_tracker::BudgetTracker};

/// The number of executions that strategies learn from. They run before all others, so that what is learned, and with
/// it every later execution, depends only on the seed.
pub(super) const LEARNED_FROM: u64 = 16;

/// The state shared by all executions, and the buffers that each needs.
pub(super) struct Draws {
    /// The choosers, and the cyclic order in which they take turns.
    choosers: Vec<Chooser>,
    turns: &'static [usize],
    seed: u64,
    most_steps: usize,
    drawing: Drawing,
}

/// The buffers of an execution.
#[derive(Default)]
struct Drawing {
    enabled: Enabled,
    schedule: Vec<Step>,
}

impl Draws {
    pub(super) fn new(strategy: RandomStrategy, seed: u64, most_steps: Option<u32>) -> Self {
        let (choosers, turns) = Chooser::of(strategy);
        Draws {
            choosers,
            turns,
            seed,
            most_steps: most_steps.map_or(usize::MAX, |most| most as usize),
            drawing: Drawing::default(),
        }
    }

    /// Returns a copy with the same learned state.
    pub(super) fn split(&self) -> Draws {
        Draws {
            choosers: self.choosers.clone(),
            drawing: Drawing::default(),
            ..*self
        }
    }

    /// Runs once, passes the execution to `visit`, and adds it to the report. Returns why it has to be the last one, if
    /// so.
    pub(super) fn draw<R: Runs>(
        &mut self,
        runs: &R,
        number: u64,
        budget_tracker: &BudgetTracker<'_>,
        report: &mut Report,
        visit: impl FnOnce(&Seen<'_, R>),
    ) -> Option<Limit> {
        let learns = number < LEARNED_FROM;
        let most = self.most_steps;
        let random = Random::of(self.seed, number);
        let drawing = &mut self.drawing;
        let turn = self.turns[(number % self.turns.len() as u64) as usize];
        let (run, verdict) = match &mut self.choosers[turn] {
            Chooser::Walk => drawing.execute(&mut Walk, runs, most, random, learns),
            Chooser::Urw(urw) => drawing.execute(urw, runs, most, random, learns),
            Chooser::Pct(priorities) => drawing.execute(priorities, runs, most, random, learns),
            Chooser::Pctcp(chained) => drawing.execute(chained, runs, most, random, learns),
            Chooser::Pos(pos) => drawing.execute(pos, runs, most, random, learns),
        };
        visit(&Seen {
            number,
            verdict,
            run: &run,
            schedule: &self.drawing.schedule,
        });
        report.progress.count(verdict);
        report.progress.steps += self.drawing.schedule.len() as u64;
        if let (Verdict::Cut, Some(most)) = (verdict, budget_tracker.budget.steps) {
            report.coverage.stop(Limit::Steps(most));
        }
        budget_tracker.stops_at(verdict)
    }
}

impl Drawing {
    /// Runs one execution whose steps `chooser` chooses.
    fn execute<R: Runs>(
        &mut self,
        chooser: &mut impl Chooses,
        runs: &R,
        most_steps: usize,
        mut random: Random,
        learns: bool,
    ) -> (R::Run, Verdict) {
        let Drawing { schedule, enabled } = self;
        let mut run = runs.start();
        schedule.clear();
        chooser.begin(&run, &mut random);
        let mut is_cut = false;
        chooser.drive(&mut run, |chooser, run: &R::Run| {
            if let Some(&last) = schedule.last() {
                chooser.took(run, last);
            }
            // A strategy may prefer some activities for ever. In an execution that does not seem to end, each has its
            // turn.
            let activity = match schedule.len() < most_steps / 2 {
                true => chooser.choose(runs, run, enabled, &mut random)?,
                false => enabled.any(run, &mut random)?,
            };
            is_cut = schedule.len() >= most_steps;
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
        });
        if learns {
            chooser.learn(schedule);
        }
        let verdict = match is_cut {
            true => Verdict::Cut,
            false => run.verdict(),
        };
        (run, verdict)
    }
}
