//! Programs of actors, and recordings of them.

use crate::support::recording::Recording;

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

/// Records a program of actors with so many workers, and checks the trace.
#[track_caller]
pub(crate) fn record(command: &[&str], strategy: Strategy, workers: usize) -> Recording {
    let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    Recording::of(workers, move |stage, workers| {
        stage
            .program("actors")
            .args(&command)
            .env("REENACT_STRATEGY", strategy.name())
            .env("REENACT_WORKERS", workers.to_string())
    })
}

/// The numbers in a line of output.
pub(crate) fn numbers(line: &str) -> Vec<u64> {
    line.split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect()
}
