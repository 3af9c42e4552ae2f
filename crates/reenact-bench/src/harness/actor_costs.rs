//! The rows `actors` and `idle-actors`: what an actor costs, in time and in memory.
//!
//! How many actors are made in a second is known from the rounds of ForkJoinActorCreation, whose operations are actors.
//! What an idle one takes is how much more memory a process has with a million of them, when it is not recorded, and how
//! much more than that when it is.

use super::{
    bench::{Bench, Strategy},
    child::{Job, Runner},
    effort::Effort,
    metric::off,
    progress::Progress,
    rounds::Samples,
    rows::Row,
    suite::Suite,
    variant::Variant,
};
use crate::{
    cores::Cores,
    savina::{
        IDLE_ACTORS,
        sizes::{Program, Size},
    },
    stats::Summary,
};

const SUITE: Suite = Suite::Savina;
const ACTORS: &str = "actors";

/// How many actors are made in a second, on one worker.
pub(super) fn created(benches: &[Bench], samples: &[Samples]) -> Option<Row> {
    const PROGRAM: Program = Program::ForkJoinActorCreation;
    let (bench, samples) = benches
        .iter()
        .zip(samples)
        .find(|(bench, _)| bench.workload == PROGRAM.name() && bench.group() == Some("1"))?;
    let actors = Size::of(PROGRAM, bench.scale).ops() as f64;
    let times = samples.rounds.iter().filter_map(off);
    let rates: Vec<_> = times.map(|ns| actors * 1e9 / ns).collect();
    let summary = Summary::of(&rates)?;
    Some(Row::new(SUITE.name(), ACTORS, "actors/s", "1/s", summary))
}

/// What idle actors take.
pub(super) fn idle(
    effort: Effort,
    runner: &Runner,
    progress: &mut Progress,
) -> (Vec<Row>, Vec<String>) {
    let mut failures = Vec::new();
    let mut bytes = |variant| {
        progress.show(&format!("{} {variant}", IDLE_ACTORS.name));
        let job = Job {
            workload: IDLE_ACTORS.name,
            program: IDLE_ACTORS.name,
            variant,
            cores: Cores::One,
            strategy: Strategy::Receiver,
            scale: 1.0,
            limit: 6 * effort.limit(),
        };
        match runner.run(&job) {
            Ok(run) => {
                let bytes = run.measured.rss_bytes?;
                Some(bytes as f64 / run.measured.ops as f64)
            }
            Err(message) => {
                failures.push(format!("{} {variant}: {message}", IDLE_ACTORS.name));
                None
            }
        }
    };
    let (mut off, mut more) = (Vec::new(), Vec::new());
    for _ in 0..effort.traces() {
        let Some(without) = bytes(Variant::Off) else {
            break;
        };
        off.push(without);
        let Some(recorded) = bytes(Variant::Record) else {
            break;
        };
        more.push(recorded - without);
    }
    let row = |metric, values: &[f64]| {
        let summary = Summary::of(values)?;
        Some(Row::new(
            SUITE.name(),
            IDLE_ACTORS.name,
            metric,
            "bytes",
            summary,
        ))
    };
    let rows = [row("rss_bytes", &off), row("record rss_bytes - off", &more)];
    (rows.into_iter().flatten().collect(), failures)
}
