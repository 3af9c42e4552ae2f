//! The log of a replay: every operation in the order in which they happened.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::Path,
};

use anstyle::{AnsiColor, Style};

use crate::error::Failure;

/// One line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// The activity's place in the family, as in `main.0`.
    pub(crate) activity: String,
    /// The name of its thread, if it has one.
    pub(crate) thread: Option<String>,
    /// What it did: `lock`, `unlock`, `wait`.
    pub(crate) operation: String,
    /// To what: `main/3`.
    pub(crate) entity: String,
    /// From where in the program: file and line, with or without the column.
    pub(crate) source: String,
    /// What else there is to say, often nothing.
    pub(crate) note: String,
}

impl Operation {
    /// Reads a line; missing fields are empty.
    fn parse(line: &str) -> Operation {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Operation {
            activity: next(),
            thread: Some(next()).filter(|name| !name.is_empty() && name != "-"),
            operation: next(),
            entity: next(),
            source: next(),
            note: next(),
        }
    }

    /// The file and the line in the program.
    pub(crate) fn place(&self) -> Option<(&str, usize)> {
        let (head, last) = self.source.rsplit_once(':')?;
        let last = last.parse().ok()?;
        let with_column = head
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse().ok()?)));
        Some(with_column.unwrap_or((head, last)))
    }

    /// How a person would call the activity.
    pub(crate) fn who(&self) -> &str {
        self.thread.as_deref().unwrap_or(&self.activity)
    }
}

/// Reads a log line by line.
pub(crate) fn read(path: &Path) -> Result<impl Iterator<Item = Operation> + use<>, Failure> {
    let file = File::open(path).map_err(Failure::Scratch)?;
    Ok(BufReader::new(file)
        .split(b'\n')
        .map_while(Result::ok)
        .map(|line| Operation::parse(&String::from_utf8_lossy(&line))))
}

/// Prints a log in columns.
pub(super) fn print(path: &Path) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let colours = [
        AnsiColor::Cyan,
        AnsiColor::Yellow,
        AnsiColor::Green,
        AnsiColor::Magenta,
        AnsiColor::Blue,
    ];
    let mut out = std::io::BufWriter::new(anstream::stdout());
    for operation in read(path)? {
        let Operation {
            activity,
            operation: action,
            entity,
            source,
            note,
            ..
        } = &operation;
        // The colour is by activity, so that one can be followed down the page.
        let sum: usize = activity.bytes().map(usize::from).sum();
        let colour = Style::new().fg_color(Some(colours[sum % colours.len()].into()));
        let who = match &operation.thread {
            Some(thread) => format!("{activity} ({thread})"),
            None => activity.clone(),
        };
        writeln!(
            out,
            "{colour}{who:<20}{colour:#} {action:<16} {entity:<12} {dim}{source}{dim:#}{}{note}",
            if note.is_empty() { "" } else { "  " },
        )
        .map_err(Failure::Output)?;
    }
    out.flush().map_err(Failure::Output)
}
