//! Which activity did what in which order, with a column for each.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use crate::{
    lanes::{self, Row},
    replay::Operation,
    screen,
};

/// The maximum width of what a row says.
const WIDEST: usize = 40;
/// How many columns there are at the most; the activities with the fewest operations have none.
const COLUMNS: usize = 8;

/// Which operations to draw.
pub(super) struct Selection<'a> {
    /// Only so many, the last ones.
    pub(super) last: Option<u64>,
    /// Only those on objects whose names contain this.
    pub(super) object: Option<&'a str>,
}

/// Prints operations, which are in the order in which they happened.
pub(super) fn print(operations: &[Operation], selection: &Selection<'_>) -> io::Result<()> {
    let mut users = HashMap::new();
    let mut rows = Vec::new();
    for operation in operations {
        let before = match &*operation.object {
            "-" => None,
            object => users.insert(object, &operation.activity),
        };
        if selection
            .object
            .is_some_and(|text| !operation.object.contains(text))
        {
            continue;
        }
        rows.push(Row {
            who: operation.who().to_owned(),
            what: what(operation),
            place: short(&operation.source).to_owned(),
            decisive: before.is_some_and(|before| *before != operation.activity),
        });
    }
    let first = match selection.last {
        Some(last) => rows
            .len()
            .saturating_sub(usize::try_from(last).unwrap_or(usize::MAX)),
        None => 0,
    };
    let rows = &rows[first..];
    let mut out = screen::stdout();
    write!(out, "{}", lanes::draw(&columns(rows), rows, first + 1))?;
    out.flush()
}

/// Returns who has a column: those with the most operations, in the order in which they appear.
fn columns(rows: &[Row]) -> Vec<&str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut indices = HashMap::new();
    for row in rows {
        let index = *indices.entry(&*row.who).or_insert_with(|| {
            counts.push((&row.who, 0));
            counts.len() - 1
        });
        counts[index].1 += 1;
    }
    let mut least = counts.iter().map(|(_, count)| *count).collect::<Vec<_>>();
    least.sort_unstable_by(|a, b| b.cmp(a));
    let least = least.get(COLUMNS - 1).copied().unwrap_or(0);
    let columns = counts.iter().filter(|(_, count)| *count >= least);
    columns.map(|(who, _)| *who).take(COLUMNS).collect()
}

/// Says what an operation did.
fn what(operation: &Operation) -> String {
    let Operation {
        operation: what,
        object,
        note,
        ..
    } = operation;
    let mut text = what.clone();
    if object != "-" {
        text.push(' ');
        // `mutex@src/main.rs:12` is `mutex@main.rs:12`.
        match object.split_once('@') {
            Some((noun, place)) => {
                text += noun;
                text.push('@');
                text += short(place);
            }
            None => text += object,
        }
    }
    if !note.is_empty() {
        text += ": ";
        text += note;
    }
    match text.char_indices().nth(WIDEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the name of a file without its directories, with what follows it.
fn short(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}
