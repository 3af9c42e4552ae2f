//! The suite `ambient`: how fast the universes of AmbientTalk programs are found, and what each takes.
//!
//! A program is read anew for each search, so that nothing is known of it beforehand; small ones are searched again and
//! again until it takes long enough to be measured. Searches on one core and on all cores alternate within a round, and one
//! core is measured twice, for the control.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use reenact_ambient::{Source, at::Program};
use reenact_multiverse::{Bounds, Keep, Reduction, Search};

use super::{Effort, Measured, Progress, Row, Suite};
use crate::{
    cores::Cores,
    stats::{Summary, geomean},
};

/// The programs of the gallery whose universes are all looked at.
const GALLERY: [&str; 10] = [
    "bad-interleaving",
    "behavioural-deadlock",
    "communication-deadlock",
    "listing1",
    "livelock",
    "memory-inconsistency",
    "message-order",
    "order-of-messages",
    "philosophers",
    "ping-pong",
];

/// A search that is measured.
struct Bench {
    name: String,
    text: String,
    reduction: Reduction,
    keep: Keep,
    /// Whether it is worth trying on all cores.
    is_large: bool,
}

/// What one round gave.
struct Sample {
    states: usize,
    bytes: f64,
    /// Seconds for one search: on one core, on one core again, and on all.
    one: f64,
    again: f64,
    all: Option<f64>,
}

/// Runs the suite.
pub(super) fn run(
    effort: Effort,
    wants: impl Fn(&str) -> bool,
    progress: &mut Progress,
) -> Measured {
    let mut measured = Measured::default();
    let benches = match benches() {
        Ok(benches) => benches,
        Err(error) => {
            measured.failures.push(error);
            return measured;
        }
    };
    let benches: Vec<Bench> = benches
        .into_iter()
        .filter(|bench| wants(&bench.name))
        .collect();
    let rounds = match effort {
        Effort::Quick => 5,
        Effort::Full => 15,
    };
    let mut samples: Vec<Vec<Sample>> = benches.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (bench, samples) in benches.iter().zip(&mut samples) {
            progress.show(&format!("round {round}/{rounds}: {}", bench.name));
            match sample(bench, effort) {
                Ok(sample) => samples.push(sample),
                Err(error) => measured.failures.push(format!("{}: {error}", bench.name)),
            }
        }
    }
    measured.rounds = rounds;
    measured.rows = benches
        .iter()
        .zip(&samples)
        .flat_map(|(bench, samples)| rows(&bench.name, samples))
        .collect();
    if wants(WHOLE) {
        match effort {
            Effort::Quick => measured
                .remarks
                .push(format!("{WHOLE} is left out by --quick")),
            Effort::Full => {
                progress.show(WHOLE);
                match whole() {
                    Ok(rows) => measured.rows.extend(rows),
                    Err(error) => measured.failures.push(format!("{WHOLE}: {error}")),
                }
            }
        }
    }
    measured.rows.extend(summaries(&samples));
    measured
}

fn read(name: &str) -> Result<String, String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root
        .join("examples/ambient")
        .join(name)
        .with_extension("at");
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The table of the gallery, with another number of seats.
fn table_for(slots: usize) -> Result<String, String> {
    let text = read("philosophers")?;
    let (makers, _) = text
        .split_once("def fork1")
        .ok_or("philosophers.at has no forks")?;
    let forks = (1..=slots).map(|slot| format!("def fork{slot} := makeFork();\n"));
    let philosophers = (1..=slots).map(|slot| {
        format!(
            "def philosopher{slot} := makePhilosopher(fork{slot}, fork{});\n",
            slot % slots + 1
        )
    });
    Ok(forks
        .chain(philosophers)
        .fold(makers.to_owned(), |text, line| text + &line))
}

fn benches() -> Result<Vec<Bench>, String> {
    let bench = |name: &str, text: String| Bench {
        name: name.to_owned(),
        text,
        reduction: Reduction::None,
        keep: Keep::Graph,
        is_large: false,
    };
    let mut all = Vec::new();
    for name in GALLERY {
        all.push(bench(name, read(name)?));
    }
    all.push(Bench {
        is_large: true,
        ..bench("philosophers4", table_for(4)?)
    });
    all.push(Bench {
        reduction: Reduction::Persistent,
        ..bench("philosophers5-reduced", read("philosophers5")?)
    });
    Ok(all)
}

/// One search of a program that is read for it: how many universes, bytes for each, and seconds.
fn search(bench: &Bench, workers: usize) -> Result<(usize, f64, f64), String> {
    let program =
        Program::new(Source::new(&*bench.name, &*bench.text)).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let graph = Search::of(&program)
        .reduction(bench.reduction)
        .keep(bench.keep)
        .workers(workers)
        .run();
    let seconds = started.elapsed().as_secs_f64();
    if !graph.coverage().is_complete() {
        return Err(graph.coverage().to_string());
    }
    Ok((graph.len(), graph.bytes_per_state(), seconds))
}

/// The mean over enough searches.
fn searches(bench: &Bench, workers: usize, effort: Effort) -> Result<(usize, f64, f64), String> {
    let enough = match effort {
        Effort::Quick => Duration::from_millis(40),
        Effort::Full => Duration::from_millis(150),
    };
    let (mut count, mut total) = (0, 0.0);
    loop {
        let (states, bytes, seconds) = search(bench, workers)?;
        count += 1;
        total += seconds;
        if total >= enough.as_secs_f64() {
            return Ok((states, bytes, total / f64::from(count)));
        }
    }
}

fn sample(bench: &Bench, effort: Effort) -> Result<Sample, String> {
    let (states, bytes, one) = searches(bench, 1, effort)?;
    let all = match bench.is_large {
        true => Some(searches(bench, Cores::All.count(), effort)?.2),
        false => None,
    };
    let (_, _, again) = searches(bench, 1, effort)?;
    Ok(Sample {
        states,
        bytes,
        one,
        again,
        all,
    })
}

fn summary(samples: &[Sample], value: impl Fn(&Sample) -> Option<f64>) -> Option<Summary> {
    Summary::of(&samples.iter().filter_map(value).collect::<Vec<f64>>())
}

impl Sample {
    fn per_second(&self) -> f64 {
        self.states as f64 / ((self.one + self.again) / 2.0)
    }

    /// One core against itself.
    fn control(&self) -> Option<f64> {
        Some(self.again / self.one)
    }

    /// By how much all cores are faster than one.
    fn speed_up(&self) -> Option<f64> {
        Some((self.one + self.again) / 2.0 / self.all?)
    }
}

fn rows(name: &str, samples: &[Sample]) -> Vec<Row> {
    let suite = Suite::Ambient.name();
    let (one, all) = (format!("{name}@1"), format!("{name}@all"));
    let row = |bench: &str, metric, unit, value: Option<Summary>| {
        Some(Row::new(suite, bench, metric, unit, value?))
    };
    [
        row(
            &one,
            "states",
            "states",
            summary(samples, |sample| Some(sample.states as f64)),
        ),
        row(
            &one,
            "states/s",
            "states/s",
            summary(samples, |sample| Some(sample.per_second())),
        ),
        row(
            &one,
            "bytes/state",
            "bytes",
            summary(samples, |sample| Some(sample.bytes)),
        ),
        row(&one, "control", "ratio", summary(samples, Sample::control)),
        row(
            &all,
            "states/s",
            "states/s",
            summary(samples, |sample| Some(sample.states as f64 / sample.all?)),
        ),
        row(&all, "1/all", "ratio", summary(samples, Sample::speed_up)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Over all programs: what the suite ends with.
fn summaries(samples: &[Vec<Sample>]) -> Vec<Row> {
    let suite = Suite::Ambient.name();
    let each = |value: fn(&Sample) -> Option<f64>| -> Vec<f64> {
        samples
            .iter()
            .filter_map(|samples| Some(summary(samples, value)?.median))
            .collect()
    };
    let (rates, bytes) = (
        each(|sample| Some(sample.per_second())),
        each(|sample| Some(sample.bytes)),
    );
    let (ups, controls) = (each(Sample::speed_up), each(Sample::control));
    let worst = |values: &[f64], pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
    let row = |bench, metric, unit, value: Option<f64>| {
        Some(Row::new(
            suite,
            bench,
            metric,
            unit,
            Summary::exactly(value?),
        ))
    };
    [
        row("geomean@1", "states/s", "states/s", geomean(&rates)),
        row("geomean@1", "bytes/state", "bytes", geomean(&bytes)),
        row("geomean@1", "control", "ratio", geomean(&controls)),
        row("geomean", "1/all", "ratio", geomean(&ups)),
        row("worst@1", "states/s", "states/s", worst(&rates, f64::min)),
        row("worst@1", "bytes/state", "bytes", worst(&bytes, f64::max)),
        row("worst@1", "control", "ratio", worst(&controls, f64::max)),
        row("worst", "1/all", "ratio", worst(&ups, f64::min)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const WHOLE: &str = "philosophers5";

/// All universes of five philosophers, once.
fn whole() -> Result<Vec<Row>, String> {
    let program =
        Program::new(Source::new(WHOLE, read(WHOLE)?)).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let bounds = Bounds {
        bytes: Some(12 << 30),
        ..Bounds::default()
    };
    let graph = Search::of(&program)
        .keep(Keep::Tree)
        .bounds(bounds)
        .workers(Cores::All.count())
        .run();
    let seconds = started.elapsed().as_secs_f64();
    if !graph.coverage().is_complete() {
        return Err(graph.coverage().to_string());
    }
    let bench = format!("{WHOLE}@all");
    let row = |metric, unit, value| {
        Row::new(
            Suite::Ambient.name(),
            &bench,
            metric,
            unit,
            Summary::exactly(value),
        )
    };
    Ok(vec![
        row("states", "states", graph.len() as f64),
        row("states/s", "states/s", graph.len() as f64 / seconds),
        row("bytes/state", "bytes", graph.bytes_per_state()),
    ])
}
