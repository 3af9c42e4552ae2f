//! The rounds: every variant of every bench, once each.
//!
//! A round goes over all benches rather than a bench over all its rounds, so that a minute in which
//! the machine is slow costs every bench a round, and none of them its median.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use super::{
    bench::Bench,
    child::{Job, Run, Runner},
    effort::Effort,
    progress::Progress,
    suite::Suite,
    variant::Variant,
};

/// What one bench gave in one round: nanoseconds for each variant that ran. For one that ran a share of the work, what
/// it would have needed for the whole.
pub(super) type Sample = BTreeMap<Variant, u64>;

/// What one bench gave.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// One for each round.
    pub(super) rounds: Vec<Sample>,
    /// One for each trace that was measured.
    pub(super) bytes_per_op: Vec<f64>,
}

/// What all rounds gave.
pub(super) struct Outcome {
    /// For each bench, its samples.
    pub(super) samples: Vec<Samples>,
    /// How many rounds there were.
    pub(super) rounds: usize,
    /// What went wrong.
    pub(super) failures: Vec<String>,
}

/// Measures the traces, then runs the rounds.
pub(super) fn run(
    suite: Suite,
    benches: &[Bench],
    effort: Effort,
    runner: &Runner,
    progress: &mut Progress,
) -> Outcome {
    let mut session = Session {
        runner,
        progress,
        effort,
        failed: BTreeSet::new(),
        failures: Vec::new(),
    };
    let mut samples = vec![Samples::default(); benches.len()];
    let start = Instant::now();
    session.traces(benches, &mut samples);
    let rounds = session.rounds(effort.rounds(suite), benches, &mut samples, start);
    Outcome {
        samples,
        rounds,
        failures: session.failures,
    }
}

struct Session<'a> {
    runner: &'a Runner,
    progress: &'a mut Progress,
    effort: Effort,
    /// What is not tried again.
    failed: BTreeSet<(usize, Variant)>,
    failures: Vec<String>,
}

impl Session<'_> {
    /// Records the programs whose traces are not measured in the rounds.
    fn traces(&mut self, benches: &[Bench], samples: &mut [Samples]) {
        for _ in 0..self.effort.traces() {
            for (number, bench) in benches.iter().enumerate() {
                let Some(scale) = bench.scale_of_trace() else {
                    continue;
                };
                let run = self.try_run(number, bench, Variant::Record, scale, "trace size");
                let bytes = run.and_then(|run| run.bytes_per_op);
                samples[number].bytes_per_op.extend(bytes);
            }
        }
    }

    /// Runs rounds until there are enough or the time is up, and returns how many there were.
    fn rounds(
        &mut self,
        planned: usize,
        benches: &[Bench],
        samples: &mut [Samples],
        start: Instant,
    ) -> usize {
        const AT_LEAST: usize = 3;
        let first_round = Instant::now();
        for round in 0..planned {
            if round >= AT_LEAST
                && self.effort.budget().is_some_and(|budget| {
                    start.elapsed() + first_round.elapsed() / round as u32 > budget
                })
            {
                return round;
            }
            for (number, bench) in benches.iter().enumerate() {
                let mut sample = Sample::new();
                for variant in Variant::order(bench.variants, round) {
                    let place = format!("round {}/{planned}", round + 1);
                    let scale = bench.scale_of(variant);
                    if let Some(run) = self.try_run(number, bench, variant, scale, &place) {
                        let ns = run.measured.ns as f64 * bench.shares_of(variant);
                        sample.insert(variant, ns as u64);
                        if bench.scale_of_trace().is_none() {
                            samples[number].bytes_per_op.extend(run.bytes_per_op);
                        }
                    }
                }
                samples[number].rounds.push(sample);
            }
        }
        planned
    }

    fn try_run(
        &mut self,
        number: usize,
        bench: &Bench,
        variant: Variant,
        scale: f64,
        place: &str,
    ) -> Option<Run> {
        if self.failed.contains(&(number, variant)) {
            return None;
        }
        let name = bench.name();
        self.progress.show(&format!("{place}: {name} {variant}"));
        let job = Job {
            workload: bench.workload,
            program: bench.program(),
            variant,
            cores: bench.cores,
            strategy: bench.strategy,
            scale,
            limit: self.effort.limit(),
        };
        let run = self.runner.run(&job);
        if let Err(message) = &run {
            self.failures.push(format!("{name} {variant}: {message}"));
            self.failed.insert((number, variant));
            // Without a recording there is nothing to replay.
            if variant == Variant::Record {
                self.failed.insert((number, Variant::Replay));
            }
        }
        run.ok()
    }
}
