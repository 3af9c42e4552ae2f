//! Printing rows: one line of JSON each, or a table with a line for each bench.

use std::io::{self, Write};

use super::{
    effort::Effort,
    rows::{Row, is_summary},
    suite::Suite,
};
use crate::cores::Cores;

/// One object per line.
pub(super) fn json(rows: &[Row]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for row in rows {
        writeln!(out, "{}", serde_json::to_string(row)?)?;
    }
    Ok(())
}

/// What stands above a table.
pub(super) struct Heading {
    pub(super) suite: Suite,
    pub(super) effort: Effort,
    pub(super) rounds: usize,
    /// What Reenact is compared with.
    pub(super) versions: Option<String>,
    /// The revision that this one is compared with.
    pub(super) against: Option<String>,
}

impl Heading {
    /// How the numbers came about.
    fn method(&self) -> String {
        let (rounds, cores) = (self.rounds, Cores::All.count());
        match (self.suite, &self.against) {
            (Suite::Instructions, _) => format!(
                "instructions per operation or execution, counted by callgrind; where threads wait \
                 for each other, median of {rounds} [lower and upper quartile]"
            ),
            (_, Some(_)) => format!(
                "{rounds} rounds; nanoseconds per operation or execution, bytes of traces; median \
                 [lower and upper quartile], of ratios within a round; {cores} cores"
            ),
            (_, None) => format!(
                "{rounds} rounds; median [lower and upper quartile] of the ratios within a round; \
                 {cores} cores"
            ),
        }
    }
}

/// A table that can be pasted, with the command above it.
pub(super) fn table(rows: &[Row], heading: &Heading) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let quick = match heading.effort {
        Effort::Quick => " --quick",
        Effort::Full => "",
    };
    let against = match &heading.against {
        Some(revision) => format!(" --against {revision}"),
        None => String::new(),
    };
    let suite = heading.suite.name();
    writeln!(out, "cargo xtask bench {suite}{quick}{against}")?;
    writeln!(out, "{}", heading.method())?;
    if let Some(versions) = &heading.versions {
        writeln!(out, "{versions}")?;
    }
    writeln!(out)?;
    out.write_all(layout(rows).as_bytes())?;
    writeln!(out)
}

/// Lays rows out as Markdown: benches down, metrics across, in the order of first appearance.
fn layout(rows: &[Row]) -> String {
    let mut metrics: Vec<&str> = Vec::new();
    let mut benches: Vec<&str> = Vec::new();
    for row in rows {
        if !metrics.contains(&&*row.metric) {
            metrics.push(&row.metric);
        }
        if !benches.contains(&row.bench.as_str()) {
            benches.push(&row.bench);
        }
    }
    let mut lines = vec![vec!["bench".to_owned()]];
    lines[0].extend(metrics.iter().map(|&metric| metric.to_owned()));
    lines[0].push(String::new());
    for bench in benches {
        let row = |metric| {
            rows.iter()
                .find(|row| row.bench == bench && row.metric == metric)
        };
        let mut line = vec![bench.to_owned()];
        line.extend(
            metrics
                .iter()
                .map(|metric| row(*metric).map_or_else(String::new, cell)),
        );
        let controls = rows
            .iter()
            .filter(|row| row.bench == bench && !is_summary(bench));
        let doubts = controls.filter_map(|row| Some((&row.metric, row.doubt()?)));
        let doubts =
            doubts.map(|(metric, off)| format!("{metric} off by {off:.1} %: not to be quoted"));
        line.push(doubts.collect::<Vec<_>>().join("; "));
        lines.push(line);
    }
    markdown(&lines)
}

fn cell(row: &Row) -> String {
    match &*row.metric {
        "actors/s" | "states/s" => format!("{:.2} million", row.value / 1e6),
        "executions/s" => format!("{:.1} thousand", row.value / 1e3),
        "states" | "executions" => format!("{}", row.value),
        "rss_bytes" if row.value >= f64::from(1 << 20) => {
            format!("{:.1} MiB", row.value / f64::from(1 << 20))
        }
        _ if row.unit == "instructions" => match row.q1 == row.q3 {
            true => format!("{:.1}", row.value),
            false => format!("{:.1} [{:.1} {:.1}]", row.value, row.q1, row.q3),
        },
        _ if row.q1 == row.q3 => format!("{:.3}", row.value),
        _ => format!("{:.3} [{:.3} {:.3}]", row.value, row.q1, row.q3),
    }
}

/// A Markdown table, padded so that it also reads well as text.
fn markdown(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(&widths) {
            text.push_str(&format!("| {cell:width$} "));
        }
        text.push_str("|\n");
        if number == 0 {
            for width in &widths {
                text.push_str(&format!("|-{}-", "-".repeat(*width)));
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::layout;
    use crate::{harness::rows::Row, stats::Summary};

    #[test]
    fn a_table_has_a_line_for_each_bench() {
        let summary = Summary {
            q1: 0.99,
            median: 1.03,
            q3: 1.04,
        };
        let rows = [
            Row::new("locks", "lee@all", "record/off", "ratio", summary),
            Row::new(
                "locks",
                "lee@all",
                "control",
                "ratio",
                Summary::exactly(1.05),
            ),
            Row::new(
                "locks",
                "geomean",
                "record/off",
                "ratio",
                Summary::exactly(1.0),
            ),
        ];
        let expected = "\
| bench   | record/off          | control |                                        |
|---------|---------------------|---------|----------------------------------------|
| lee@all | 1.030 [0.990 1.040] | 1.050   | control off by 5.0 %: not to be quoted |
| geomean | 1.000               |         |                                        |
";
        assert_eq!(layout(&rows), expected);
    }
}
