//! The rounds, and what they gave.

use std::time::Instant;

use super::trial::{Explorers, Trial, Who};
use crate::{
    explored::{Explored, Hunt, Way, programs::Program},
    harness::{effort::Effort, explore::until_bug, progress::Progress},
    stats::Summary,
};

/// What all rounds gave.
pub(super) struct Samples {
    trials: Vec<Trial>,
    /// For each round, what each trial gave if it was run.
    pub(super) rounds: Vec<Vec<Option<Explored>>>,
}

/// What one round gave for one program.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    samples: &'a Samples,
    explored: &'a [Option<Explored>],
    program: Program,
}

/// By which clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    Wall,
    Processor,
}

impl Samples {
    /// Runs rounds of these trials until there are enough or the time is up. A trial that fails is not tried again.
    pub(super) fn measure(
        trials: Vec<Trial>,
        effort: Effort,
        explorers: &Explorers,
        progress: &mut Progress,
        failures: &mut Vec<String>,
    ) -> Self {
        const AT_LEAST: u32 = 3;
        let (planned, budget) = (effort.rounds_of_explorations(), effort.budget());
        let mut has_failed = vec![false; trials.len()];
        let mut rounds = Vec::new();
        let start = Instant::now();
        for round in 0..planned {
            if round >= AT_LEAST
                && budget.is_some_and(|most| start.elapsed() + start.elapsed() / round > most)
            {
                break;
            }
            let mut explored = vec![None; trials.len()];
            for number in order(&trials, round as usize) {
                let trial = &trials[number];
                if has_failed[number] || trial.is_once && round > 0 {
                    continue;
                }
                let what = format!("{} {}", trial.program.name(), trial.who.name());
                progress.show(&format!("round {}/{planned}: {what}", round + 1));
                match explorers.explore(trial) {
                    Ok(one) => explored[number] = Some(one),
                    Err(message) => {
                        failures.push(format!("{what}: {message}"));
                        has_failed[number] = true;
                    }
                }
            }
            rounds.push(explored);
        }
        Self { trials, rounds }
    }

    /// The median over the rounds of what can be said of a program in each.
    pub(super) fn summary(
        &self,
        program: Program,
        value: impl Fn(Round<'_>) -> Option<f64>,
    ) -> Option<Summary> {
        let round = |explored| Round {
            samples: self,
            explored,
            program,
        };
        let values = self.rounds.iter().filter_map(|one| value(round(one)));
        Summary::of(&values.collect::<Vec<_>>())
    }
}

impl Round<'_> {
    /// What this one gave.
    pub(super) fn of(self, who: Who) -> Option<Explored> {
        let trials = self.samples.trials.iter();
        let mut pairs = trials.zip(self.explored);
        let (_, explored) =
            pairs.find(|(trial, _)| trial.program == self.program && trial.who == who)?;
        *explored
    }

    /// Nanoseconds for an execution.
    pub(super) fn per_execution(self, who: Who, clock: Clock) -> Option<f64> {
        let explored = self.of(who)?;
        Some(clock.of(&explored) / explored.executions as f64)
    }

    /// The same of Reenact on one core. Where it was run twice, both are equally good, and their mean is better than either.
    pub(super) fn ours(self, way: Way, clock: Clock) -> Option<f64> {
        let once = self.per_execution(Who::Ours(way), clock)?;
        let again = self.per_execution(Who::Again(way), clock);
        Some(again.map_or(once, |again| (once + again) / 2.0))
    }

    /// One core against itself.
    pub(super) fn control(self, way: Way, clock: Clock) -> Option<f64> {
        let again = self.per_execution(Who::Again(way), clock)?;
        Some(again / self.per_execution(Who::Ours(way), clock)?)
    }
}

impl Clock {
    pub(super) fn of(self, explored: &Explored) -> f64 {
        match self {
            Self::Wall => explored.ns as f64,
            Self::Processor => explored.cpu_ns as f64,
        }
    }
}

/// The order of a round: program by program, and in each program another one is first each time.
fn order(trials: &[Trial], round: usize) -> Vec<usize> {
    let numbers: Vec<usize> = (0..trials.len()).collect();
    let mut order = Vec::new();
    for of_program in numbers.chunk_by(|&a, &b| trials[a].program == trials[b].program) {
        let mut of_program = of_program.to_vec();
        let first = round % of_program.len();
        of_program.rotate_left(first);
        order.extend(of_program);
    }
    order
}

/// What each of these needs to find each bug.
pub(super) fn hunt_all(
    hunters: &[Who],
    seeds: u64,
    explorers: &Explorers,
    wants: &impl Fn(&str) -> bool,
    progress: &mut Progress,
    failures: &mut Vec<String>,
) -> Vec<(Program, Who, Hunt)> {
    let mut hunts = Vec::new();
    for program in Program::ALL.into_iter().filter(|program| program.has_bug()) {
        if !wants(&until_bug(program)) {
            continue;
        }
        for &who in hunters {
            let what = format!("{}/{}", until_bug(program), who.name());
            progress.show(&what);
            match explorers.hunt(who, program, seeds) {
                Ok(hunt) => hunts.push((program, who, hunt)),
                Err(message) => failures.push(format!("{what}: {message}")),
            }
        }
    }
    hunts
}
