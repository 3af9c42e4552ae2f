//! From samples to the rows that are printed.

use std::borrow::Cow;

use serde::Serialize;

use super::{
    bench::{Bench, Strategy},
    metric::Metric,
    rounds::Samples,
    suite::Suite,
};
use crate::stats::{Summary, geomean, mean};

/// The control may be off by this much.
const TOLERANCE: f64 = 0.02;

/// One number of the results, in the form that `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) suite: &'static str,
    pub(super) bench: String,
    pub(super) metric: Cow<'static, str>,
    pub(super) value: f64,
    pub(super) q1: f64,
    pub(super) q3: f64,
    pub(super) unit: &'static str,
}

/// What a suite that is run in a way of its own gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) rows: Vec<Row>,
    pub(super) rounds: usize,
    pub(super) failures: Vec<String>,
    pub(super) remarks: Vec<String>,
}

impl Row {
    pub(super) fn new(
        suite: &'static str,
        bench: &str,
        metric: impl Into<Cow<'static, str>>,
        unit: &'static str,
        summary: Summary,
    ) -> Self {
        Self {
            suite,
            bench: bench.to_owned(),
            metric: metric.into(),
            value: rounded(summary.median),
            q1: rounded(summary.q1),
            q3: rounded(summary.q3),
            unit,
        }
    }

    fn of(suite: &'static str, bench: &str, metric: Metric, summary: Summary) -> Self {
        Self::new(suite, bench, metric.name(), metric.unit(), summary)
    }

    /// By how many per cent this control is off, if that is too much.
    pub(super) fn doubt(&self) -> Option<f64> {
        let off = (self.value - 1.0).abs();
        (self.is_control() && off > TOLERANCE).then_some(off * 100.0)
    }

    /// Whether it compares something with itself: all of a bench, or one measure of it (`p99 control`).
    fn is_control(&self) -> bool {
        self.metric.ends_with(Metric::Control.name())
    }
}

/// Four decimals are more than any of this is good for.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The rows of the benches.
pub(super) fn of_benches(suite: Suite, benches: &[Bench], samples: &[Samples]) -> Vec<Row> {
    summaries(suite, benches, samples)
        .map(|(bench, metric, summary)| Row::of(suite.name(), &bench.name(), metric, summary))
        .collect()
}

/// The rows over the papers' programs, which a suite ends with: for each [section](Section) of benches.
pub(super) fn over_papers(suite: Suite, benches: &[Bench], samples: &[Samples]) -> Vec<Row> {
    let papers: Vec<_> = summaries(suite, benches, samples)
        .filter(|(bench, _, _)| bench.group().is_some())
        .collect();
    let sections = Section::all(papers.iter().map(|&(bench, _, _)| bench));
    let mut rows = Vec::new();
    for over in [over_mean, over_worst] {
        for section in &sections {
            for metric in suite.metrics() {
                let of_metric = papers.iter().filter(|(_, its, _)| *its == metric);
                let summaries: Vec<_> = of_metric
                    .filter(|(bench, _, _)| section.has(bench))
                    .map(|&(_, _, summary)| summary)
                    .collect();
                if let Some((name, summary)) = over(metric, &summaries) {
                    let name = section.name(name);
                    rows.push(Row::of(suite.name(), &name, metric, summary));
                }
            }
        }
    }
    rows
}

/// Benches that have a mean in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Section {
    /// Only those that are run by these; otherwise whoever runs them.
    runs: Option<&'static str>,
    /// Only those of this [group](Bench::group); otherwise all that Reenact does by default.
    group: Option<&'static str>,
}

impl Section {
    /// The sections of these benches, from the smallest to all of them.
    fn all<'a>(benches: impl Iterator<Item = &'a Bench> + Clone) -> Vec<Self> {
        let by_both = benches.clone().filter(|bench| bench.runs().is_some());
        let by_both = by_both.map(|bench| Self {
            runs: bench.runs(),
            group: bench.group(),
        });
        let by_group = benches.map(|bench| Self {
            runs: None,
            group: bench.group(),
        });
        let mut sections: Vec<Self> = Vec::new();
        for section in by_both.chain(by_group) {
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        sections.push(Self {
            runs: None,
            group: None,
        });
        sections
    }

    fn has(self, bench: &Bench) -> bool {
        let runs = self.runs.is_none() || self.runs == bench.runs();
        runs && match self.group {
            None => bench.strategy == Strategy::Receiver,
            group => group == bench.group(),
        }
    }

    /// What `row` is called for this section.
    fn name(self, row: &str) -> String {
        let runs = self
            .runs
            .map_or_else(String::new, |runs| format!("-{runs}"));
        let group = self
            .group
            .map_or_else(String::new, |group| format!("@{group}"));
        format!("{row}{runs}{group}")
    }
}

/// Every metric of every bench that has values for it.
fn summaries<'a>(
    suite: Suite,
    benches: &'a [Bench],
    samples: &'a [Samples],
) -> impl Iterator<Item = (&'a Bench, Metric, Summary)> {
    let benches = benches.iter().zip(samples);
    benches.flat_map(move |(bench, samples)| {
        suite.metrics().into_iter().filter_map(move |metric| {
            let summary = Summary::of(&metric.values(samples))?;
            Some((bench, metric, summary))
        })
    })
}

/// Ratios have a geometric mean, bytes an arithmetic one.
fn over_mean(metric: Metric, summaries: &[Summary]) -> Option<(&'static str, Summary)> {
    Some(match metric {
        ratio if ratio.is_ratio() => ("geomean", Summary::across(summaries, geomean)?),
        _ => ("mean", Summary::across(summaries, mean)?),
    })
}

/// The largest; for a control, the farthest from 1.
fn over_worst(metric: Metric, summaries: &[Summary]) -> Option<(&'static str, Summary)> {
    let badness = |summary: &Summary| match metric {
        Metric::Control => summary.median.ln().abs(),
        _ => summary.median,
    };
    let worst = summaries
        .iter()
        .max_by(|a, b| badness(a).total_cmp(&badness(b)))?;
    Some(("worst", *worst))
}

/// One sentence for each bench that should not be quoted.
pub(super) fn doubtful_controls(rows: &[Row]) -> Vec<String> {
    let benches = rows.iter().filter(|row| !is_summary(&row.bench));
    benches
        .filter_map(|row| Some((row, row.doubt()?)))
        .map(|(row, off)| {
            format!(
                "{}: {} off by {off:.1} %: not to be quoted",
                row.bench, row.metric
            )
        })
        .collect()
}

/// Whether a row is over several benches.
pub(super) fn is_summary(bench: &str) -> bool {
    let name = bench.split(['-', '@', '/']).next().unwrap_or(bench);
    ["geomean", "mean", "worst"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{effort::Effort, plan::benches, rounds::Sample, variant::Variant};

    /// Samples in which recording costs what `record` says for each bench, in three rounds.
    fn rows(suite: Suite, record: impl Fn(usize) -> u64) -> Vec<Row> {
        let benches = benches(suite, Effort::Full);
        let samples: Vec<_> = (0..benches.len())
            .map(|bench| {
                let round = Sample::from([
                    (Variant::Std, 100),
                    (Variant::Off, 100),
                    (Variant::OffAgain, 100),
                    (Variant::Record, record(bench)),
                ]);
                Samples {
                    rounds: vec![round; 3],
                    bytes_per_op: vec![bench as f64],
                }
            })
            .collect();
        let mut rows = of_benches(suite, &benches, &samples);
        rows.extend(over_papers(suite, &benches, &samples));
        rows
    }

    fn value(rows: &[Row], bench: &str, metric: &str) -> Option<f64> {
        let row = rows.iter().find(|r| r.bench == bench && r.metric == metric);
        row.map(|row| row.value)
    }

    #[test]
    fn means_and_worst_are_over_the_papers_programs_only() {
        // The benches 0 to 4 are micro benches, 5 to 8 run on one core, 9 to 12 on all.
        let rows = rows(Suite::Locks, |bench| match bench {
            0..5 => 900,
            5..9 => 110,
            _ => 440,
        });
        assert_eq!(value(&rows, "mutex-uncontended", "record/off"), Some(9.0));
        assert_eq!(value(&rows, "lee@1core", "record/off"), Some(1.1));
        assert_eq!(value(&rows, "geomean@1core", "record/off"), Some(1.1));
        assert_eq!(value(&rows, "geomean@all", "record/off"), Some(4.4));
        assert_eq!(value(&rows, "geomean", "record/off"), Some(2.2));
        assert_eq!(value(&rows, "worst", "record/off"), Some(4.4));
        assert_eq!(value(&rows, "mean@1core", "bytes/op"), Some(6.5));
        assert_eq!(value(&rows, "worst@1core", "bytes/op"), Some(8.0));
    }

    #[test]
    fn processes_and_threads_have_means_of_their_own() {
        // The benches 0 to 5 are of processes, 6 to 11 of threads; of each, the first three on one core.
        let rows = rows(Suite::Csp, |bench| match bench {
            0..3 => 110,
            3..6 => 120,
            6..9 => 440,
            _ => 480,
        });
        let value = |bench| value(&rows, bench, "record/off");
        assert_eq!(value("geomean-processes@1"), Some(1.1));
        assert_eq!(value("worst-processes@all"), Some(1.2));
        assert_eq!(value("geomean-threads@1"), Some(4.4));
        assert_eq!(value("geomean-threads@all"), Some(4.8));
        assert_eq!(value("geomean@1"), Some(2.2));
        assert_eq!(value("worst"), Some(4.8));
        assert!(is_summary("geomean-processes@1"));
    }

    #[test]
    fn a_variant_that_never_ran_has_no_rows() {
        let rows = rows(Suite::Locks, |_| 100);
        assert!(rows.iter().all(|row| row.metric != "replay/record"));
    }

    #[test]
    fn a_control_off_by_more_than_two_per_cent_is_doubted() {
        let control = |value| Row::of("locks", "lee@all", Metric::Control, Summary::exactly(value));
        assert_eq!(
            doubtful_controls(&[control(0.969), control(1.019)]),
            ["lee@all: control off by 3.1 %: not to be quoted"]
        );
    }

    #[test]
    fn a_row_prints_as_the_documented_line() {
        let summary = Summary {
            q1: 1.004,
            median: 1.01234,
            q3: 1.021,
        };
        let row = Row::of("locks", "mutex-uncontended", Metric::RecordOff, summary);
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            r#"{"suite":"locks","bench":"mutex-uncontended","metric":"record/off","value":1.0123,"q1":1.004,"q3":1.021,"unit":"ratio"}"#
        );
    }
}
