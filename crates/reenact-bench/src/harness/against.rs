//! Comparing this build with that of another revision, in one run.
//!
//! What is compared are times of the same work, not the ratios that a suite prints of one build: a change that makes
//! everything slower, recorded or not, leaves those as they are. The programs of the other revision are its own,
//! started by this harness as if they were ours. Each measurement is made three times in a round: by the other revision,
//! by this one, and by this one again, for the control.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    Options,
    bench::Bench,
    child::{Job, Runner},
    effort::Effort,
    explore::{self, Worst},
    instructions, plan,
    progress::Progress,
    rows::{Measured, Row},
    suite::Suite,
    variant::Variant,
};
use crate::stats::Summary;

/// Another build to compare with.
#[derive(Clone, Debug)]
pub struct Against {
    /// What it is called: a revision, usually.
    pub name: String,
    /// Where its binaries are.
    pub directory: PathBuf,
}

/// Which build, and for which purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The other one.
    Then,
    /// This one.
    Now,
    /// This one again, for the control.
    Again,
}

/// Something that is measured of each side.
pub(super) struct Comparison<'a> {
    pub(super) bench: String,
    pub(super) unit: &'static str,
    /// In how many rounds.
    pub(super) rounds: usize,
    /// How much it is. The error says what went wrong.
    pub(super) measure: Box<dyn FnMut(Side) -> Result<f64, String> + 'a>,
}

/// One round's measurements, by side.
type Sample = [f64; Side::ALL.len()];

/// Compares the benches of a suite with those of the other build.
pub(super) fn run(
    suite: Suite,
    options: &Options,
    against: &Against,
    progress: &mut Progress,
) -> io::Result<Measured> {
    let directory = tempfile::tempdir()?;
    let place = |side: Side, programs: &[String]| {
        let from = match side {
            Side::Then => &against.directory,
            Side::Now | Side::Again => &options.programs,
        };
        copy(
            programs,
            from,
            directory.path().join((side as usize).to_string()),
        )
    };
    Ok(match suite {
        Suite::Instructions => {
            let mut programs: Vec<_> = instructions::counted()
                .map(|(program, _)| program)
                .collect();
            programs.dedup();
            let sides = Side::each(|side| {
                let place = place(side, &programs)?;
                instructions::Counter::new(&place, &place)
            })?;
            let (comparisons, without) = instructions::comparisons(options, &sides);
            let measured = compare(suite, comparisons, options.effort, against, progress);
            Measured {
                remarks: without,
                ..measured
            }
        }
        Suite::Explore => {
            const EXPLORER: &str = "reenact-bench-explore";
            let sides = Side::each(|side| {
                let place = place(side, &[EXPLORER.to_owned()])?;
                explore::Explorers::new(&place.join(EXPLORER), &options.peers)
            })?;
            let comparisons = explore::comparisons(options, &sides);
            compare(suite, comparisons, options.effort, against, progress)
        }
        Suite::Locks | Suite::Savina | Suite::Csp | Suite::Stm | Suite::Mixed => {
            const RUNNER: &str = "reenact-bench-round";
            let sides = Side::each(|side| {
                let place = place(side, &[RUNNER.to_owned()])?;
                Runner::new(&place.join(RUNNER), &options.peers, &place)
            })?;
            let mut benches = plan::benches(suite, options.effort);
            benches.retain(|bench| options.wants(&bench.name()));
            let rounds = options.effort.rounds(suite);
            let each = benches
                .iter()
                .flat_map(|bench| of_bench(bench, rounds, options.effort, &sides));
            compare(suite, each.collect(), options.effort, against, progress)
        }
        Suite::SavinaPeers | Suite::Http | Suite::Ambient | Suite::ExplorePeers | Suite::All => {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "--against is for locks, savina, csp, stm, mixed, explore and instructions, not for {}",
                    suite.name()
                ),
            ));
        }
    })
}

/// Copies the programs that there are to a directory, which is made. All sides are run from paths of the same length: that of a program is in
/// its trace, and where its stack begins depends on it.
fn copy(programs: &[String], from: &Path, to: PathBuf) -> io::Result<PathBuf> {
    fs::create_dir(&to)?;
    for program in programs {
        let source = from.join(program);
        if source.is_file() {
            fs::copy(source, to.join(program))?;
        }
    }
    Ok(to)
}

/// What is compared of a bench that `reenact-bench-round` runs. A recording is made before it is measured and replayed.
fn of_bench<'a>(
    bench: &'a Bench,
    rounds: usize,
    effort: Effort,
    sides: &'a [Runner; 3],
) -> [Comparison<'a>; 4] {
    let time = move |side: Side, variant| {
        let (measured, _) = side.of(sides).measure(&Job {
            workload: bench.workload,
            program: bench.program(),
            variant,
            cores: bench.cores,
            strategy: bench.strategy,
            scale: bench.scale,
            limit: effort.limit(),
        })?;
        Ok(measured.ns as f64 / measured.ops as f64)
    };
    // Of what was just recorded, for a recording makes way for the next one.
    let bytes = move |side: Side| Ok(side.of(sides).complete_trace()? as f64);
    let comparison = |what, unit, measure| Comparison {
        bench: format!("{}/{what}", bench.name()),
        unit,
        rounds,
        measure,
    };
    [
        comparison(
            "off",
            "ns/op",
            Box::new(move |side| time(side, Variant::Off)),
        ),
        comparison(
            "record",
            "ns/op",
            Box::new(move |side| time(side, Variant::Record)),
        ),
        comparison("bytes", "bytes", Box::new(bytes)),
        comparison(
            "replay",
            "ns/op",
            Box::new(move |side| time(side, Variant::Replay)),
        ),
    ]
}

/// Measures everything in each round, on all sides, in an order that rotates. What fails on one side is not tried again.
fn compare(
    suite: Suite,
    mut comparisons: Vec<Comparison<'_>>,
    effort: Effort,
    against: &Against,
    progress: &mut Progress,
) -> Measured {
    const AT_LEAST: usize = 3;
    let planned = comparisons.iter().map(|one| one.rounds).max().unwrap_or(0);
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); comparisons.len()];
    let mut failures: Vec<Option<String>> = vec![None; comparisons.len()];
    let mut rounds = 0;
    let start = Instant::now();
    for round in 0..planned {
        let next = start.elapsed() / round.max(1) as u32;
        if round >= AT_LEAST
            && effort
                .budget()
                .is_some_and(|most| start.elapsed() + next > most)
        {
            break;
        }
        rounds += 1;
        for (number, comparison) in comparisons.iter_mut().enumerate() {
            if failures[number].is_some() || round >= comparison.rounds {
                continue;
            }
            let mut sample = Sample::default();
            for side in Side::order(round) {
                let bench = &comparison.bench;
                progress.show(&format!("round {}/{planned}: {bench} {side}", round + 1));
                match (comparison.measure)(side) {
                    Ok(value) => sample[side as usize] = value,
                    Err(message) => {
                        let side = match side {
                            Side::Then => &against.name,
                            Side::Now | Side::Again => "now",
                        };
                        failures[number] = Some(format!("{bench} {side}: {message}"));
                        break;
                    }
                }
            }
            if failures[number].is_none() {
                samples[number].push(sample);
            }
        }
    }
    let benches = comparisons.iter().zip(&samples);
    let mut rows: Vec<Row> = benches
        .flat_map(|(comparison, samples)| rows_of(suite, comparison, samples, &against.name))
        .collect();
    rows.extend(means(&rows, &ratio(&against.name)));
    Measured {
        rows,
        rounds,
        failures: failures.into_iter().flatten().collect(),
        remarks: Vec::new(),
    }
}

/// The name of the column that says by how much this build is slower, or larger.
fn ratio(then: &str) -> String {
    format!("now/{then}")
}

fn rows_of(suite: Suite, comparison: &Comparison<'_>, samples: &[Sample], then: &str) -> Vec<Row> {
    let summary = |value: fn(&Sample) -> f64| {
        // Nothing over nothing is no ratio.
        let values = samples.iter().map(value).filter(|value| value.is_finite());
        Summary::of(&values.collect::<Vec<_>>())
    };
    let row = |metric: String, unit, summary: Option<Summary>| {
        let bench = &comparison.bench;
        Some(Row::new(suite.name(), bench, metric, unit, summary?))
    };
    // Both runs of this build are equally good, and their mean is better than either.
    let now: fn(&Sample) -> f64 = |[_, now, again]| (now + again) / 2.0;
    [
        row(
            then.to_owned(),
            comparison.unit,
            summary(|[then, ..]| *then),
        ),
        row("now".to_owned(), comparison.unit, summary(now)),
        row(
            ratio(then),
            "ratio",
            summary(|[then, now, again]| (now + again) / 2.0 / then),
        ),
        row(
            "control".to_owned(),
            "ratio",
            summary(|[_, now, again]| again / now),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The mean and the worst for each kind of measurement, which is what the name of a bench ends with.
fn means(rows: &[Row], ratio: &str) -> Vec<Row> {
    let mut kinds: Vec<&str> = Vec::new();
    for row in rows {
        let kind = row.bench.rfind('/').map_or("", |at| &row.bench[at..]);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut means = Vec::new();
    for kind in kinds {
        for (metric, worst) in [(ratio, Worst::Largest), ("control", Worst::Farthest)] {
            let has = |bench: &str| bench.ends_with(kind);
            means.extend(explore::over(rows, metric, worst, kind, has));
        }
    }
    // The means first, then the worst.
    means.sort_by_key(|row| row.bench.starts_with("worst"));
    means
}

impl Side {
    const ALL: [Self; 3] = [Self::Then, Self::Now, Self::Again];

    /// All sides, another one first in each round.
    fn order(round: usize) -> [Self; 3] {
        let mut order = Self::ALL;
        order.rotate_left(round % Self::ALL.len());
        order
    }

    /// Something for each side.
    fn each<T>(make: impl Fn(Self) -> io::Result<T>) -> io::Result<[T; 3]> {
        Ok([make(Self::Then)?, make(Self::Now)?, make(Self::Again)?])
    }

    /// What there is for this side.
    pub(super) fn of<T>(self, sides: &[T; 3]) -> &T {
        &sides[self as usize]
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Then => "then",
            Self::Now => "now",
            Self::Again => "now again",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(measure: impl FnMut(Side) -> Result<f64, String>) -> Measured {
        let comparison = Comparison {
            bench: "lee@all/off".to_owned(),
            unit: "ns/op",
            rounds: 3,
            measure: Box::new(measure),
        };
        let against = Against {
            name: "v1".to_owned(),
            directory: PathBuf::new(),
        };
        let suite = Suite::Locks;
        let progress = &mut Progress::new();
        compare(suite, vec![comparison], Effort::Full, &against, progress)
    }

    fn values(measured: &Measured) -> Vec<(&str, &str, f64)> {
        let rows = measured.rows.iter();
        rows.map(|row| (&*row.bench, &*row.metric, row.value))
            .collect()
    }

    #[test]
    fn this_build_is_compared_with_the_other_and_with_itself() {
        let measured = compared(|side| {
            Ok(match side {
                Side::Then => 10.0,
                Side::Now => 20.0,
                Side::Again => 22.0,
            })
        });
        assert_eq!(
            values(&measured),
            [
                ("lee@all/off", "v1", 10.0),
                ("lee@all/off", "now", 21.0),
                ("lee@all/off", "now/v1", 2.1),
                ("lee@all/off", "control", 1.1),
                ("geomean/off", "now/v1", 2.1),
                ("geomean/off", "control", 1.1),
                ("worst/off", "now/v1", 2.1),
                ("worst/off", "control", 1.1),
            ]
        );
        assert_eq!(measured.rounds, 3);
    }

    #[test]
    fn what_fails_on_one_side_is_said_once_and_has_no_rows() {
        let measured = compared(|side| match side {
            Side::Then => Err("no such workload".to_owned()),
            _ => Ok(1.0),
        });
        assert!(measured.rows.is_empty());
        assert_eq!(measured.failures, ["lee@all/off v1: no such workload"]);
    }

    #[test]
    fn every_side_is_first_in_its_turn() {
        let first = [0, 1, 2, 3].map(|round| Side::order(round)[0]);
        assert_eq!(first, [Side::Then, Side::Now, Side::Again, Side::Then]);
    }
}
