//! `reenact trace`: looks into a recording without running anything.
//!
//! All three commands read the events in streams: memory grows with the number of activities, not with the length of
//! the recording.

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

/// The command line of a program, as one types it.
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

/// Whether messages were recorded by those who sent them.
fn with_sender(program: &Program) -> bool {
    program
        .environment
        .iter()
        .any(|(name, value)| name == "REENACT_STRATEGY" && value == "sender")
}

/// Damage, in JSON.
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
