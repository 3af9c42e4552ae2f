//! The oracle: a replay prints what the recording printed, ends as it ended and leaves no report, with any number of
//! workers. While it runs it makes the same trace again, or says that it does not.

use std::sync::Arc;

use reenact_trace::Trace;

use crate::stage::{Outcome, Program, Stage};

/// A program of processes on this stage, with so many workers.
pub(crate) fn program<'a>(stage: &'a Stage, command: &[&str], workers: usize) -> Program<'a> {
    let arguments: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    stage
        .program("csp")
        .with(move |command| {
            command.args(&arguments);
        })
        .env("REENACT_WORKERS", workers.to_string())
}

/// A recorded program of processes.
pub(crate) struct Recording {
    stage: Stage,
    command: Vec<String>,
    /// How the recorded run went.
    pub(crate) outcome: Outcome,
}

impl Recording {
    /// Records it with so many workers, and checks the trace.
    #[track_caller]
    pub(crate) fn of(command: &[&str], workers: usize) -> Recording {
        let stage = Stage::new();
        let outcome = program(&stage, command, workers).record();
        outcome.is_fine();
        let trace = stage.recovered();
        assert!(
            trace.is_complete() && trace.stop().is_none(),
            "{outcome:#?}"
        );
        Recording {
            stage,
            command: command.iter().map(|&word| word.to_owned()).collect(),
            outcome,
        }
    }

    /// Replays it with so many workers.
    #[track_caller]
    pub(crate) fn replay(&self, workers: usize) {
        let command: Vec<_> = self.command.iter().map(String::as_str).collect();
        let replayed = program(&self.stage, &command, workers).replay();
        replayed.is_same_as(&self.outcome);
    }

    /// The trace.
    pub(crate) fn trace(&self) -> Arc<Trace> {
        self.stage.open()
    }
}
