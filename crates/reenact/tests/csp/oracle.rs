//! Programs of processes, and recordings of them.

use crate::support::{
    recording::Recording,
    stage::{Program, Stage},
};

/// A program of processes on this stage, with so many workers.
pub(crate) fn program<'a>(
    stage: &'a Stage,
    command: &[impl AsRef<str>],
    workers: usize,
) -> Program<'a> {
    stage
        .program("csp")
        .args(command)
        .env("REENACT_WORKERS", workers.to_string())
}

/// Records a program with so many workers, and checks the trace.
#[track_caller]
pub(crate) fn record(command: &[&str], workers: usize) -> Recording {
    let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    Recording::of(workers, move |stage, workers| {
        program(stage, &command, workers)
    })
}
