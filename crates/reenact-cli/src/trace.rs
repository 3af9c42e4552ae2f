//! `reenact trace`: inspects a recording without running anything.
//!
//! All three commands stream the events: memory use depends on the number of activities, not on the length of the
//! recording.

mod check;
mod event_text;
mod show;
mod stats;

use std::{io::Write, path::Path, sync::Arc};

use reenact_trace::{Exit, Program, Trace};
use serde::Serialize;

use crate::{args::TraceCommand, error::Error, report, screen};

pub(crate) fn run(command: &TraceCommand) -> Result<Exit, Error> {
    match command {
        TraceCommand::Show(args) => show::run(args),
        TraceCommand::Stats(args) => stats::run(args),
        TraceCommand::Check(args) => check::run(args),
    }
}

fn open(file: &Path) -> Result<Arc<Trace>, Error> {
    Ok(Arc::new(Trace::open(file)?))
}

/// Prints a value as JSON or, unless `json`, as this text.
fn print(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Error> {
    let text = match json {
        true => screen::json(value) + "\n",
        false => text(),
    };
    let mut out = screen::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}

/// Formats the command line of a program for a shell.
fn command_line(program: &Program) -> String {
    let words: Vec<String> = match program.arguments.as_slice() {
        [] => vec![report::quoted(&program.executable)],
        words => words
            .iter()
            .map(|word| report::quoted(Path::new(word)))
            .collect(),
    };
    words.join(" ")
}

/// Whether the senders recorded the order of messages.
fn with_sender(program: &Program) -> bool {
    program
        .environment
        .iter()
        .any(|(name, value)| name == "REENACT_STRATEGY" && value == "sender")
}

/// The damage of a trace, as JSON.
#[derive(Debug, Serialize)]
struct DamageJson {
    offset: u64,
    what: &'static str,
}

impl From<&reenact_trace::Damage> for DamageJson {
    fn from(damage: &reenact_trace::Damage) -> DamageJson {
        DamageJson {
            offset: damage.offset,
            what: damage.what,
        }
    }
}
