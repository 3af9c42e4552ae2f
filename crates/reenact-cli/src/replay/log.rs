//! Prints the log of a replay: every operation in the order in which they happened.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};
use reenact_engine::log::Log;
pub(crate) use reenact_engine::log::Operation;
use reenact_trace::printable;

use crate::{error::Error, screen};

/// Maximum width of a column; a longer text shifts the rest of its line.
const WIDEST: usize = 48;

/// Reads the operations of a log.
pub(crate) fn read(path: &Path) -> Result<Vec<Operation>, Error> {
    let log = Log::open(path).map_err(Error::Scratch)?;
    Ok(log.operations().map_err(Error::Scratch)?.collect())
}

/// Prints a log in columns.
pub(super) fn print(path: &Path) -> Result<(), Error> {
    let dim = Style::new().dimmed();
    let colours = [
        AnsiColor::Cyan,
        AnsiColor::Yellow,
        AnsiColor::Green,
        AnsiColor::Magenta,
        AnsiColor::Blue,
    ];
    let log = Log::open(path).map_err(Error::Scratch)?;
    let operations = || log.operations().map_err(Error::Scratch);
    let mut widths = [0; 3];
    for operation in operations()? {
        for (width, text) in widths.iter_mut().zip(columns(&operation)) {
            *width = text.chars().count().min(WIDEST).max(*width);
        }
    }
    let [wide_who, wide_what, wide_object] = widths;
    let mut out = BufWriter::new(screen::stdout());
    for operation in operations()? {
        let [who, what, object] = columns(&operation);
        let [source, note] = [&operation.source, &operation.note].map(|text| printable(text));
        // Each activity has a colour, so that the reader can follow it.
        let sum: usize = operation.activity.bytes().map(usize::from).sum();
        let colour = Style::new().fg_color(Some(colours[sum % colours.len()].into()));
        let line = format!(
            "{colour}{who:<wide_who$}{colour:#}  {what:<wide_what$}  {object:<wide_object$}  {dim}{source}{dim:#}{}{note}",
            if note.is_empty() { "" } else { "  " },
        );
        writeln!(out, "{}", line.trim_end()).map_err(Error::Output)?;
    }
    out.flush().map_err(Error::Output)
}

fn columns(operation: &Operation) -> [String; 3] {
    let Operation {
        activity, thread, ..
    } = operation;
    let who = match thread {
        // The main thread has the same name as its activity.
        Some(thread) if thread != activity => format!("{activity} ({thread})"),
        _ => activity.clone(),
    };
    [&who, &operation.operation, &operation.object].map(|text| printable(text).into_owned())
}

/// Writes a log to a file for other programs: one line per operation, with the activity, its thread, the operation, the
/// object, the source position and a note, separated by tabs.
pub(super) fn write(path: &Path, mut file: &File) -> std::io::Result<()> {
    let mut out = BufWriter::new(&mut file);
    for operation in Log::open(path)?.operations()? {
        let Operation {
            activity,
            thread,
            operation,
            object,
            source,
            note,
            ..
        } = operation;
        let thread = thread.unwrap_or("-".to_owned());
        let fields = [activity, thread, operation, object, source, note];
        let [activity, thread, operation, object, source, note] =
            fields.each_ref().map(|text| printable(text));
        writeln!(
            out,
            "{activity}\t{thread}\t{operation}\t{object}\t{source}\t{note}"
        )?;
    }
    out.flush()
}
