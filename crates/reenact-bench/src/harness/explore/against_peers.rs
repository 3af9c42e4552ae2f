//! Reenact against shuttle, loom and TraceForge.
//!
//! At random, each of our ways is compared with the one of shuttle's schedulers that draws alike, and for a program as such the
//! fastest of ours with the fastest of shuttle's. All executions are compared as the time for all of them, however many a
//! library has.

use super::{
    RANDOM, Samples, Worst,
    alone::of_hunts,
    over,
    samples::{Clock, Round},
    trial::{Trial, Who},
    until_bug,
};
use crate::{
    explored::{Hunt, Way, programs::Program},
    harness::{effort::Effort, rows::Row, suite::Suite},
    stats::Summary,
};

pub(super) const HUNTERS: [Who; 8] = [
    Who::Ours(Way::Mixed),
    Who::Ours(Way::Walk),
    Who::Ours(Way::Urw),
    Who::Ours(Way::Pct),
    Who::Ours(Way::Pos),
    Who::Peer("shuttle-random"),
    Who::Peer("shuttle-urw"),
    Who::Peer("shuttle-pct"),
];

const TRACEFORGE: Who = Who::Peer("traceforge");
const LOOM: Who = Who::Peer("loom");

/// The way that is there unless another is asked for.
const DEFAULT: Way = Way::Mixed;

/// The scheduler of shuttle that draws alike.
fn alike(way: Way) -> Option<Who> {
    match way {
        Way::Walk => Some(Who::Peer("shuttle-random")),
        Way::Urw => Some(Who::Peer("shuttle-urw")),
        Way::Pct => Some(Who::Peer("shuttle-pct")),
        Way::Mixed | Way::Pos | Way::Exhaustive => None,
    }
}

/// Whether executions per second can be compared: shuttle ends at a deadlock, and beginning again takes it much longer than
/// an execution.
fn draws(program: Program) -> bool {
    program != Program::Philosophers3
}

/// Those that all executions of are looked for, and by whom besides us.
fn exhausted_by(program: Program) -> &'static [Who] {
    match program {
        Program::LostUpdateDeep => &[],
        // A deadlock is the end of loom.
        Program::Philosophers3 => &[TRACEFORGE],
        _ => &[TRACEFORGE, LOOM],
    }
}

/// What is run in a round.
pub(super) fn trials(effort: Effort, wants: &impl Fn(&str) -> bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for program in Program::ALL {
        let mut add = |who, scale| {
            trials.push(Trial {
                program,
                who,
                scale,
                is_once: false,
            });
        };
        if !wants(program.name()) {
            continue;
        }
        if draws(program) {
            for way in RANDOM {
                let scale = effort.scale_of_exploration(way);
                add(Who::Ours(way), scale);
                if let Some(peer) = alike(way) {
                    add(peer, effort.scale_of_peers_draws());
                }
            }
            add(Who::Again(DEFAULT), effort.scale_of_exploration(DEFAULT));
        }
        let peers = exhausted_by(program);
        if peers.is_empty() {
            continue;
        }
        let scale = effort.scale_of_exploration(Way::Exhaustive);
        add(Who::Ours(Way::Exhaustive), scale);
        add(Who::Again(Way::Exhaustive), scale);
        for &peer in peers {
            trials.push(of_peer(program, peer, scale, effort));
        }
    }
    trials
}

/// Loom has hundreds of thousands of executions of the program with nine messages, and is asked for them once. In a hurry it
/// is not waited for, and what has passed until then is a lower bound; nor is it asked more than once for those of the one
/// with six.
fn of_peer(program: Program, who: Who, scale: f64, effort: Effort) -> Trial {
    let (is_once, scale) = match (program, who, effort) {
        (Program::Mpsc3x3, LOOM, Effort::Full) => (true, 1.0),
        (Program::Mpsc3x3 | Program::QueueOrder, LOOM, Effort::Quick) => (true, 0.05),
        _ => (false, scale),
    };
    Trial {
        program,
        who,
        scale,
        is_once,
    }
}

/// What is printed, and what is to be said about it.
pub(super) fn rows(samples: &Samples, hunts: &[(Program, Who, Hunt)]) -> (Vec<Row>, Vec<String>) {
    let mut rows = Vec::new();
    let mut remarks = Vec::new();
    for program in Program::ALL {
        rows.extend(of_program(samples, program));
        if draws(program) {
            for way in RANDOM {
                rows.extend(of_way(samples, program, way));
            }
        }
        let gave_up = samples.summary(program, |round| {
            let loom = round.of(LOOM)?;
            (loom.complete == Some(false)).then_some(loom.ns as f64 / 1e9)
        });
        if let Some(seconds) = gave_up {
            remarks.push(format!(
                "{}: loom was not waited for longer than {:.0} s: its ratios are upper bounds",
                program.name(),
                seconds.median
            ));
        }
    }
    rows.extend(of_hunts(Suite::ExplorePeers, hunts));
    rows.extend(over_shuttle(hunts));
    let means = means(&rows);
    rows.extend(means);
    (rows, remarks)
}

fn row(bench: &str, metric: &'static str, value: Option<Summary>) -> Option<Row> {
    Some(Row::new(
        Suite::ExplorePeers.name(),
        bench,
        metric,
        "ratio",
        value?,
    ))
}

fn of_program(samples: &Samples, program: Program) -> Vec<Row> {
    let bench = program.name();
    let ratio = |metric, value: &dyn Fn(Round<'_>) -> Option<f64>| {
        row(bench, metric, samples.summary(program, value))
    };
    let executions = samples.summary(program, |round| {
        Some(round.of(Who::Ours(Way::Exhaustive))?.executions as f64)
    });
    let executions = executions.map(|executions| {
        let suite = Suite::ExplorePeers.name();
        Row::new(suite, bench, "executions", "executions", executions)
    });
    [
        ratio("random/shuttle", &|round| best(round, Clock::Wall)),
        ratio("cpu random/shuttle", &|round| best(round, Clock::Processor)),
        ratio("exhaustive/traceforge", &|round| {
            all(round, TRACEFORGE, Clock::Wall)
        }),
        ratio("cpu exhaustive/traceforge", &|round| {
            all(round, TRACEFORGE, Clock::Processor)
        }),
        ratio("exhaustive/loom", &|round| all(round, LOOM, Clock::Wall)),
        ratio("cpu exhaustive/loom", &|round| {
            all(round, LOOM, Clock::Processor)
        }),
        executions,
        ratio("control", &|round| round.control(DEFAULT, Clock::Wall)),
        ratio("cpu control", &|round| {
            round.control(DEFAULT, Clock::Processor)
        }),
        ratio("exhaustive control", &|round| {
            round.control(Way::Exhaustive, Clock::Wall)
        }),
        ratio("cpu exhaustive control", &|round| {
            round.control(Way::Exhaustive, Clock::Processor)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The fastest of ours over the fastest of shuttle's.
fn best(round: Round<'_>, clock: Clock) -> Option<f64> {
    let ours = RANDOM.into_iter().map(|way| round.ours(way, clock));
    let theirs = RANDOM
        .into_iter()
        .filter_map(alike)
        .map(|peer| round.per_execution(peer, clock));
    let least = |all: &mut dyn Iterator<Item = Option<f64>>| all.flatten().reduce(f64::min);
    Some(least(&mut ours.into_iter())? / least(&mut theirs.into_iter())?)
}

/// All executions of ours over all of a peer's.
fn all(round: Round<'_>, peer: Who, clock: Clock) -> Option<f64> {
    let executions = round.of(Who::Ours(Way::Exhaustive))?.executions as f64;
    let ours = round.ours(Way::Exhaustive, clock)? * executions;
    Some(ours / clock.of(&round.of(peer)?))
}

fn of_way(samples: &Samples, program: Program, way: Way) -> Vec<Row> {
    let bench = format!("{}/{}", program.name(), way.name());
    let ratio = |clock| {
        samples.summary(program, |round| {
            Some(round.ours(way, clock)? / round.per_execution(alike(way)?, clock)?)
        })
    };
    [
        row(&bench, "random/shuttle", ratio(Clock::Wall)),
        row(&bench, "cpu random/shuttle", ratio(Clock::Processor)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What each of our ways needs until the bug over what the best of shuttle's schedulers does.
fn over_shuttle(hunts: &[(Program, Who, Hunt)]) -> Vec<Row> {
    let best = |program| {
        let theirs = hunts
            .iter()
            .filter(|(of, who, _)| *of == program && matches!(who, Who::Peer(_)));
        theirs
            .filter_map(|(_, _, hunt)| hunt.executions_until_bug_median)
            .min()
    };
    let ours = hunts
        .iter()
        .filter(|(_, who, _)| matches!(who, Who::Ours(_)));
    ours.filter_map(|(program, who, hunt)| {
        let ours = hunt.executions_until_bug_median? as f64;
        let ratio = Summary::exactly(ours / best(*program)? as f64);
        let bench = format!("{}/{}", until_bug(*program), who.name());
        row(&bench, "executions/shuttle", Some(ratio))
    })
    .collect()
}

fn means(rows: &[Row]) -> Vec<Row> {
    let mut means = Vec::new();
    for (metric, worst) in [
        ("random/shuttle", Worst::Largest),
        ("cpu random/shuttle", Worst::Largest),
        ("exhaustive/traceforge", Worst::Largest),
        ("cpu exhaustive/traceforge", Worst::Largest),
        ("exhaustive/loom", Worst::Largest),
        ("cpu exhaustive/loom", Worst::Largest),
        ("control", Worst::Farthest),
        ("cpu control", Worst::Farthest),
        ("exhaustive control", Worst::Farthest),
        ("cpu exhaustive control", Worst::Farthest),
    ] {
        // A program as such, not one of its ways.
        means.extend(over(rows, metric, worst, "", |bench| !bench.contains('/')));
    }
    for way in [Way::Mixed, Way::Walk, Way::Urw, Way::Pct, Way::Pos] {
        let suffix = format!("/{}", way.name());
        for metric in ["random/shuttle", "cpu random/shuttle", "executions/shuttle"] {
            means.extend(over(rows, metric, Worst::Largest, &suffix, |bench| {
                bench.ends_with(&suffix)
            }));
        }
    }
    means.sort_by_key(|row| row.bench.starts_with("worst"));
    means
}
