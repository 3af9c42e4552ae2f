//! `reenact record`: runs a program with recording enabled, then completes the files that it left.
//!
//! The recording itself happens inside the program and does not depend on this process: if this process is killed, the
//! program continues recording, and `reenact replay` completes the files.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use indicatif::DecimalBytes;
use reenact_trace::{Exit, Trace, append_exit};

use crate::{
    args::RecordArgs,
    error::Error,
    files::{self, Destination},
    process::{self, Finished},
    report, signals, unrecorded,
};

pub(crate) fn run(args: &RecordArgs) -> Result<Exit, Error> {
    let file = match &args.output {
        Some(file) => file.clone(),
        None => default_file(&args.command[0]),
    };
    signals::take_over();
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    if let Some(strategy) = args.strategy {
        command.env("REENACT_STRATEGY", strategy.name());
    }
    if !args.redact.is_empty() {
        command.env("REENACT_REDACT", args.redact.join(","));
    }
    if !args.env.is_empty() {
        command.env("REENACT_ENV", args.env.join(","));
    }
    let recording = record(&mut command, &file)?;
    if recording.traces.is_empty() {
        report::note(
            "nothing was recorded: is the program built with reenact (use reenact::{sync, thread, actor}), and did it \
             start a thread, take a lock or make an actor?",
        );
    }
    for trace in &recording.traces {
        report_trace(&shown_beside(&file, trace.path()), trace);
    }
    // Children are often the same program.
    let unrecorded = recording.traces.iter().flat_map(unrecorded::of_recorded);
    let lines: BTreeSet<String> = unrecorded.map(|what| what.to_string()).collect();
    for line in lines {
        report::note(format_args!("not recorded: {line}"));
    }
    Ok(recording.exit)
}

/// A program that ran with recording enabled, and the traces that it left.
pub(crate) struct RecordedRun {
    /// How the program ended.
    pub(crate) exit: Exit,
    /// Usually the first is the program's own and the others are its children's.
    pub(crate) traces: Vec<Trace>,
}

/// Runs `command` with its recording at `file`, and completes the files. Once the program has run, a problem with a
/// trace is only reported: the exit status of the program is more important.
pub(crate) fn record(command: &mut Command, file: &Path) -> Result<RecordedRun, Error> {
    let destination = Destination::prepare(file)?;
    command
        .env("REENACT", "record")
        .env("REENACT_TRACE", destination.path())
        .env_remove("REENACT_REPORT")
        .env_remove("REENACT_LOG");
    let (program, destination) = match process::start(command) {
        Ok(program) => (program, destination.started()),
        Err(error) => {
            destination.restore();
            return Err(error);
        }
    };
    let finished = program.wait()?;
    let mut exit_is_kept = false;
    let traces = destination
        .traces()
        .iter()
        .filter_map(|path| {
            finish(path, &finished, &mut exit_is_kept).unwrap_or_else(|error| {
                report::note(error);
                None
            })
        })
        .collect();
    Ok(RecordedRun {
        exit: finished.exit,
        traces,
    })
}

/// Completes a trace, and stores how the program ended in it if it is the trace of the process that we waited for. At
/// most one trace is. Returns `None` if the trace is empty.
fn finish(
    path: &Path,
    finished: &Finished,
    exit_is_kept: &mut bool,
) -> Result<Option<Trace>, Error> {
    // A child that outlives the program continues recording; its trace is completed when it is replayed.
    files::complete_or_note(path)?;
    let trace = Trace::open(path)?;
    if trace.activities().len() == 0 {
        // The process ended before its first operation.
        let _ = fs::remove_file(path);
        return Ok(None);
    }
    if *exit_is_kept || !finished.was(trace.program()) {
        return Ok(Some(trace));
    }
    *exit_is_kept = true;
    append_exit(path, finished.exit)?;
    Ok(Some(Trace::open(path)?))
}

fn default_file(program: &std::ffi::OsStr) -> PathBuf {
    let mut name = Path::new(program).file_name().unwrap_or(program).to_owned();
    name.push(".reenact");
    name.into()
}

/// Returns the path of a trace relative to the same directory as `file`, which the user gave.
fn shown_beside(file: &Path, sibling: &Path) -> PathBuf {
    file.with_file_name(sibling.file_name().unwrap_or_default())
}

fn report_trace(file: &Path, trace: &Trace) {
    let mut line = format!(
        "recorded {} ({}, {}",
        report::quoted(file),
        DecimalBytes(trace.size()),
        report::counted(trace.activities().len() as u64, "activity", "activities"),
    );
    if let Some(exit) = trace.exit() {
        let _ = write!(line, ", {exit}");
    }
    let _ = write!(
        line,
        "); replay it with: reenact replay {}",
        report::quoted(file)
    );
    report::note(line);
    if let Some(stop) = trace.stop() {
        report::note(format_args!(
            "recording ended early: {stop}; a replay ends there too"
        ));
    }
}
