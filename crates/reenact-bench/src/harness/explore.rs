//! The suites `explore` and `explore-peers`: how fast the executions of small programs of threads are gone through, at random
//! and one of each class, and how many it takes until a bug is met.
//!
//! As everywhere, what is compared runs interleaved as child processes. On one core a child is pinned to it, whoever it is.
//! An exploration on one core is mostly computing, so the processor time is measured beside the wall time: on a machine that
//! has other work to do, the former is what can be compared.

mod against_peers;
mod alone;
mod samples;
mod trial;

use super::{
    Options,
    against::{Comparison, Side},
    effort::Effort,
    progress::Progress,
    rows::{Measured, Row},
    suite::Suite,
};
use crate::{
    explored::{Way, programs::Program},
    stats::{Summary, geomean},
};

pub(super) use self::trial::Explorers;
use self::{
    samples::{Clock, Samples, hunt_all},
    trial::{Trial, Who},
};

/// The libraries that the suite `explore-peers` compares with.
pub(super) const PEERS: [&str; 3] = ["shuttle", "loom", "traceforge"];

/// The ways that leave something to chance.
const RANDOM: [Way; 4] = [Way::Mixed, Way::Walk, Way::Urw, Way::Pct];

/// How many seeds a median of executions until the bug is over.
fn seeds(effort: Effort) -> u64 {
    match effort {
        Effort::Quick => 100,
        Effort::Full => 1000,
    }
}

/// Runs the suite.
pub(super) fn run(
    suite: Suite,
    effort: Effort,
    explorers: &Explorers,
    wants: impl Fn(&str) -> bool,
    progress: &mut Progress,
) -> Measured {
    let trials = match suite {
        Suite::ExplorePeers => against_peers::trials(effort, &wants),
        _ => alone::trials(effort, &wants),
    };
    let hunters: &[Who] = match suite {
        Suite::ExplorePeers => &against_peers::HUNTERS,
        _ => &alone::HUNTERS,
    };
    let mut failures = Vec::new();
    let hunts = hunt_all(
        hunters,
        seeds(effort),
        explorers,
        &wants,
        progress,
        &mut failures,
    );
    let samples = Samples::measure(trials, effort, explorers, progress, &mut failures);
    let (rows, remarks) = match suite {
        Suite::ExplorePeers => against_peers::rows(&samples, &hunts),
        _ => (alone::rows(&samples, &hunts), Vec::new()),
    };
    Measured {
        rows,
        rounds: samples.rounds.len(),
        failures,
        remarks,
    }
}

/// What an execution takes, for the builds of two revisions: on one core in processor time, on all of them in wall time.
pub(super) fn comparisons<'a>(options: &Options, sides: &'a [Explorers; 3]) -> Vec<Comparison<'a>> {
    let effort = options.effort;
    let trials = alone::trials(effort, &|bench| options.wants(bench));
    let comparison = |trial: Trial| {
        let (clock, unit) = match trial.who {
            Who::OnAll(_) => (Clock::Wall, "ns/execution"),
            Who::Ours(_) => (Clock::Processor, "cpu ns/execution"),
            // Whoever compares has a control for each side.
            Who::Again(_) | Who::Peer(_) => return None,
        };
        Some(Comparison {
            bench: alone::name(&trial),
            unit,
            rounds: effort.rounds_of_explorations() as usize,
            measure: Box::new(move |side: Side| {
                let explored = side.of(sides).explore(&trial)?;
                Ok(clock.of(&explored) / explored.executions as f64)
            }),
        })
    };
    trials.into_iter().filter_map(comparison).collect()
}

/// Where executions until the bug are counted, the name of the bench is this and who looks for it.
fn until_bug(program: Program) -> String {
    format!("{}/until-bug", program.name())
}

/// What a metric is worst at.
#[derive(Clone, Copy)]
pub(super) enum Worst {
    Largest,
    Smallest,
    /// What is farthest from 1.
    Farthest,
}

/// The mean and the worst of what the rows of these benches have for a metric.
pub(super) fn over(
    rows: &[Row],
    metric: &str,
    worst: Worst,
    suffix: &str,
    has: impl Fn(&str) -> bool,
) -> Vec<Row> {
    let of_metric: Vec<&Row> = rows
        .iter()
        .filter(|row| row.metric == metric && has(&row.bench))
        .collect();
    let Some(first) = of_metric.first() else {
        return Vec::new();
    };
    let summaries: Vec<Summary> = of_metric
        .iter()
        .map(|row| Summary {
            q1: row.q1,
            median: row.value,
            q3: row.q3,
        })
        .collect();
    let badness = |summary: &&Summary| match worst {
        Worst::Largest => summary.median,
        Worst::Smallest => -summary.median,
        Worst::Farthest => summary.median.ln().abs(),
    };
    let bad = summaries
        .iter()
        .max_by(|a, b| badness(a).total_cmp(&badness(b)));
    let row = |name: &str, summary| {
        let bench = format!("{name}{suffix}");
        Row::new(
            first.suite,
            &bench,
            first.metric.clone(),
            first.unit,
            summary,
        )
    };
    let mean = Summary::across(&summaries, geomean).map(|mean| row("geomean", mean));
    mean.into_iter()
        .chain(bad.map(|bad| row("worst", *bad)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Row, Summary, Worst, over};

    #[test]
    fn the_mean_and_the_worst_are_over_the_benches_that_are_meant() {
        let row =
            |bench, value| Row::new("explore", bench, "1/all", "ratio", Summary::exactly(value));
        let rows = [row("a@all", 1.0), row("b@all", 4.0), row("c@1", 100.0)];
        let has = |bench: &str| bench.ends_with("@all");
        let over = over(&rows, "1/all", Worst::Smallest, "@all", has);
        let values: Vec<_> = over.iter().map(|row| (&*row.bench, row.value)).collect();
        assert_eq!(values, [("geomean@all", 2.0), ("worst@all", 1.0)]);
    }
}
