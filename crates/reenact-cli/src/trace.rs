//! `reenact trace`: inspects a recording without running anything.
//!
//! All three commands stream the events: memory use depends on the number of activities, not on the length of the
//! recording.

mod check;
mod show;
mod stats;
mod words;

use std::{path::Path, sync::Arc};

use reenact_trace::{Exit, Program, Trace};
use serde::Serialize;

use crate::{args::TraceCommand, error::Failure, report};

pub(crate) fn run(command: &TraceCommand) -> Result<Exit, Failure> {
    match command {
        TraceCommand::Show(args) => show::run(args),
        TraceCommand::Stats(args) => stats::run(args),
        TraceCommand::Check(args) => check::run(args),
    }
}

fn open(file: &Path) -> Result<Arc<Trace>, Failure> {
    Ok(Arc::new(Trace::open(file)?))
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
struct Damage {
    offset: u64,
    what: &'static str,
}

impl From<&reenact_trace::Damage> for Damage {
    fn from(damage: &reenact_trace::Damage) -> Damage {
        Damage {
            offset: damage.offset,
            what: damage.what,
        }
    }
}
