//! Draws which thread did what in which order: time goes down, each thread has a column.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

/// One operation in the diagram.
pub(crate) struct Row {
    /// The name of a lane, or of an activity without a lane.
    pub(crate) who: String,
    pub(crate) what: String,
    /// The position in the program.
    pub(crate) place: String,
    /// Whether the outcome depends on when this happened.
    pub(crate) decisive: bool,
}

const COLOURS: [AnsiColor; 4] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Green,
];

/// Draws `rows` from top to bottom, numbered from `first`. Rows of an activity without a lane span all lanes.
pub(crate) fn draw(lanes: &[&str], rows: &[Row], first: usize) -> String {
    let digits = (first + rows.len().max(1) - 1).to_string().len();
    let width = rows
        .iter()
        .map(|row| row.what.chars().count() + 2)
        .chain(lanes.iter().map(|lane| lane.chars().count()))
        .max()
        .unwrap_or(0)
        + 3;
    let mut text = String::new();
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    let _ = write!(text, "{:digits$}  ", "");
    for (index, lane) in lanes.iter().enumerate() {
        let style = bold.fg_color(Some(COLOURS[index % COLOURS.len()].into()));
        let width = if index + 1 < lanes.len() { width } else { 0 };
        let _ = write!(text, "{style}{lane:<width$}{style:#}");
    }
    text.push('\n');
    for (number, row) in (first..).zip(rows) {
        let _ = write!(text, "{number:>digits$}  ");
        let lane = lanes.iter().position(|lane| *lane == row.who);
        for index in 0..lanes.len() {
            let colour = Style::new().fg_color(Some(COLOURS[index % COLOURS.len()].into()));
            if lane == Some(index) {
                let style = if row.decisive { colour.bold() } else { colour };
                let mark = if row.decisive { '●' } else { '○' };
                let what = format!("{mark} {}", row.what);
                let _ = write!(text, "{style}{what:<width$}{style:#}");
            } else if lane.is_some() {
                let _ = write!(text, "{colour}{:<width$}{colour:#}", "│");
            }
        }
        if lane.is_none() {
            let what = format!("{} {}", row.who, row.what);
            let _ = write!(text, "{what:<0$}", width * lanes.len());
        }
        let _ = writeln!(text, "{dim}{}{dim:#}", row.place);
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(who: &str, what: &str, place: &str) -> Row {
        Row {
            who: who.into(),
            what: what.into(),
            place: place.into(),
            decisive: who != "main",
        }
    }

    #[test]
    fn each_thread_has_its_column() {
        let rows = [
            row("alice", "looks", "a.rs:1"),
            row("bob", "looks", "a.rs:1"),
            row("alice", "takes", "a.rs:2"),
            row("main", "counts", "a.rs:9"),
        ];
        let drawn = anstream::adapter::strip_str(&draw(&["alice", "bob"], &rows, 1)).to_string();
        expect![[r#"
               alice      bob
            1  ● looks    │          a.rs:1
            2  │          ● looks    a.rs:1
            3  ● takes    │          a.rs:2
            4  main counts           a.rs:9
        "#]]
        .assert_eq(&drawn);
    }
}
