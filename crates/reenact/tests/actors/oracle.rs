//! The oracle: a replay prints what the recording printed, ends as it ended and leaves no report, with any number of
//! workers. While it runs it makes the same trace again, or says that it does not.

use crate::stage::{Outcome, Stage};

/// Who records the order of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    Receiver,
    Sender,
}

impl Strategy {
    pub(crate) const BOTH: [Strategy; 2] = [Strategy::Receiver, Strategy::Sender];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Strategy::Receiver => "receiver",
            Strategy::Sender => "sender",
        }
    }
}

/// A recorded program of actors.
pub(crate) struct Recording {
    stage: Stage,
    command: Vec<String>,
    strategy: Strategy,
    /// How the recorded run went.
    pub(crate) outcome: Outcome,
}

impl Recording {
    /// Records it with so many workers, and checks the trace.
    #[track_caller]
    pub(crate) fn of(command: &[&str], strategy: Strategy, workers: usize) -> Recording {
        let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        let stage = Stage::new();
        let outcome = start(&stage, &command, strategy, workers).record();
        outcome.is_fine();
        let trace = stage.recovered();
        assert!(
            trace.is_complete() && trace.stop().is_none(),
            "{outcome:#?}"
        );
        Recording {
            stage,
            command,
            strategy,
            outcome,
        }
    }

    /// Replays it with so many workers.
    #[track_caller]
    pub(crate) fn replay(&self, workers: usize) {
        let replayed = start(&self.stage, &self.command, self.strategy, workers).replay();
        replayed.is_same_as(&self.outcome);
    }
}

fn start<'a>(
    stage: &'a Stage,
    command: &[String],
    strategy: Strategy,
    workers: usize,
) -> crate::stage::Program<'a> {
    let arguments = command.to_vec();
    stage
        .program("actors")
        .with(move |command| {
            command.args(&arguments);
        })
        .env("REENACT_STRATEGY", strategy.name())
        .env("REENACT_WORKERS", workers.to_string())
}

/// The numbers in a line of output.
pub(crate) fn numbers(line: &str) -> Vec<u64> {
    line.split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect()
}
