//! Reenact alone: executions per second in each way, on one core and on all.
//!
//! The processor time of a step is reported: it is to be compared with that of another day, on which the machine may have had
//! less to do.

use super::{
    RANDOM, Samples, Worst, over,
    samples::Clock,
    trial::{Trial, Who},
    until_bug,
};
use crate::{
    explored::{Hunt, Way, is_endless, programs::Program},
    harness::{effort::Effort, rows::Row, suite::Suite},
    stats::Summary,
};

pub(super) const HUNTERS: [Who; 5] = [
    Who::Ours(Way::Mixed),
    Who::Ours(Way::Walk),
    Who::Ours(Way::Urw),
    Who::Ours(Way::Pct),
    Who::Ours(Way::Pos),
];

fn bench(program: Program, way: Way, cores: &str) -> String {
    format!("{}/{}@{cores}", program.name(), way.name())
}

/// The name in the results.
pub(super) fn name(trial: &Trial) -> String {
    let cores = match trial.who {
        Who::OnAll(_) => "all",
        _ => "1",
    };
    format!("{}/{}@{cores}", trial.program.name(), trial.who.name())
}

/// The ways in which a program is explored.
fn ways() -> impl Iterator<Item = Way> {
    RANDOM.into_iter().chain([Way::Exhaustive])
}

/// What is run in a round.
pub(super) fn trials(effort: Effort, wants: &impl Fn(&str) -> bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for program in Program::ALL {
        for way in ways() {
            let mut add = |who| {
                trials.push(Trial {
                    program,
                    who,
                    scale: effort.scale_of_exploration(way),
                    is_once: false,
                });
            };
            let on_all = wants(&bench(program, way, "all")) && way.is_divided(program);
            if wants(&bench(program, way, "1")) || on_all {
                add(Who::Ours(way));
                add(Who::Again(way));
            }
            if on_all {
                add(Who::OnAll(way));
            }
        }
    }
    trials
}

/// What is printed.
pub(super) fn rows(samples: &Samples, hunts: &[(Program, Who, Hunt)]) -> Vec<Row> {
    let mut rows = Vec::new();
    for program in Program::ALL {
        for way in ways() {
            rows.extend(of_bench(samples, program, way));
        }
    }
    rows.extend(of_hunts(Suite::Explore, hunts));
    let mut means = Vec::new();
    for way in ways() {
        for (cores, metrics) in [
            (
                "1",
                &[
                    ("executions/s", Worst::Smallest),
                    ("ns/step", Worst::Largest),
                    ("control", Worst::Farthest),
                    ("cpu control", Worst::Farthest),
                ][..],
            ),
            (
                "all",
                &[
                    ("executions/s", Worst::Smallest),
                    ("1/all", Worst::Smallest),
                ],
            ),
        ] {
            let suffix = format!("/{}@{cores}", way.name());
            for &(metric, worst) in metrics {
                means.extend(over(&rows, metric, worst, &suffix, |bench| {
                    bench.ends_with(&suffix)
                }));
            }
        }
    }
    means.extend(over(&rows, "1/all", Worst::Smallest, "", |_| true));
    for control in ["control", "cpu control"] {
        means.extend(over(&rows, control, Worst::Farthest, "", |_| true));
    }
    // The means first, then the worst.
    means.sort_by_key(|row| row.bench.starts_with("worst"));
    rows.extend(means);
    rows
}

fn of_bench(samples: &Samples, program: Program, way: Way) -> Vec<Row> {
    let (one, all) = (bench(program, way, "1"), bench(program, way, "all"));
    let row = |bench: &str, metric, unit, value: Option<Summary>| {
        Some(Row::new(Suite::Explore.name(), bench, metric, unit, value?))
    };
    let executions = samples.summary(program, |round| {
        Some(round.of(Who::Ours(way))?.executions as f64)
    });
    let rate = samples.summary(program, |round| Some(1e9 / round.ours(way, Clock::Wall)?));
    let step = samples.summary(program, |round| {
        let explored = round.of(Who::Ours(way))?;
        let steps = explored.steps? as f64 / explored.executions as f64;
        Some(round.ours(way, Clock::Processor)? / steps)
    });
    let control = |clock| samples.summary(program, |round| round.control(way, clock));
    let on_all = samples.summary(program, |round| {
        Some(1e9 / round.per_execution(Who::OnAll(way), Clock::Wall)?)
    });
    let up = samples.summary(program, |round| {
        Some(round.ours(way, Clock::Wall)? / round.per_execution(Who::OnAll(way), Clock::Wall)?)
    });
    [
        // How many are drawn is up to who asks; how many there are is not.
        row(&one, "executions", "executions", executions)
            .filter(|_| way == Way::Exhaustive && !is_endless(program)),
        row(&one, "executions/s", "executions/s", rate),
        row(&one, "ns/step", "ns", step),
        row(&one, "control", "ratio", control(Clock::Wall)),
        row(&one, "cpu control", "ratio", control(Clock::Processor)),
        row(&all, "executions/s", "executions/s", on_all),
        row(&all, "1/all", "ratio", up),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Executions until the bug.
pub(super) fn of_hunts(suite: Suite, hunts: &[(Program, Who, Hunt)]) -> Vec<Row> {
    let row = |(program, who, hunt): &(Program, Who, Hunt)| {
        let median = hunt.executions_until_bug_median?;
        let bench = format!("{}/{}", until_bug(*program), who.name());
        let summary = Summary::exactly(median as f64);
        Some(Row::new(
            suite.name(),
            &bench,
            "executions",
            "executions",
            summary,
        ))
    };
    hunts.iter().filter_map(row).collect()
}
