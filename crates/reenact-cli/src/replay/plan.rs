//! Runs a recorded program again and compares the result.

use std::{
    ffi::OsString,
    fmt, fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use reenact_trace::{Exit, StopReason, Trace};
use rustix::fs::SeekFrom;
use serde::Serialize;
use tempfile::TempDir;

use super::{DIVERGED, environment::Environment};
use crate::{
    error::Error,
    files, process, report,
    trust::{self, Consent, Executable},
};

/// The options of a replay.
pub(crate) struct ReplayOptions<'a> {
    pub(crate) trace: &'a Path,
    /// Replay even if the program has changed.
    pub(crate) force: bool,
    /// Another path and other arguments for the program; empty to use the recorded ones.
    pub(crate) command: &'a [OsString],
    /// What the user has said about the program.
    pub(crate) consent: Consent,
    /// Perform the program's writes to files and sockets.
    pub(crate) really_write: bool,
}

/// A recorded program that has been checked and can be replayed.
pub(crate) struct Plan {
    /// Absolute, because the program runs in another directory.
    trace: PathBuf,
    executable: Executable,
    arguments: Vec<OsString>,
    environment: Environment,
    /// `None` if it does not exist any more; then the program runs in our directory.
    directory: Option<PathBuf>,
    really_write: bool,
    recorded: RecordedEnd,
    notes: Vec<String>,
}

/// How the recorded run ended, as far as the trace contains it.
#[derive(Debug, Clone, Copy)]
struct RecordedEnd {
    exit: Option<Exit>,
    /// The trace ends before the run did: recording stopped, or part of the file is missing.
    partial: bool,
}

impl Plan {
    /// Completes the trace if necessary, and checks that the program is the one that was recorded.
    pub(crate) fn new(options: &ReplayOptions<'_>) -> Result<Plan, Error> {
        let mut notes = Vec::new();
        // Opened first, so that a file that is not a trace is not modified.
        Trace::open(options.trace)?;
        if let Some(error) = files::complete(options.trace)? {
            notes.push(format!("{error}; reading the recording from its two files"));
        }
        let trace = Trace::open(options.trace)?;
        if let Some(damage) = trace.damage() {
            notes.push(format!(
                "the recording is damaged: {damage}; replaying the part before it"
            ));
        } else if !trace.is_complete() {
            notes.push("the end of the recording is missing; replaying the rest".to_owned());
        }
        if let Some(stop) = trace.stop() {
            notes.push(early_end(stop));
        }
        let program = trace.program();
        let (executable, arguments) = match options.command.split_first() {
            None => (program.executable.as_os_str(), program.arguments.clone()),
            Some((executable, further)) => (
                executable.as_os_str(),
                arguments_for(&program.arguments, further),
            ),
        };
        // A name without a directory would be looked up in PATH.
        let executable = std::path::absolute(executable).map_err(Error::Scratch)?;
        let executable = Executable::read(&executable).map_err(|error| Error::ProgramGone {
            executable,
            trace: options.trace.to_owned(),
            error,
        })?;
        if program.build_id != 0 && executable.build_id != program.build_id {
            if !options.force {
                return Err(Error::Rebuilt {
                    executable: executable.shown().to_owned(),
                    trace: options.trace.to_owned(),
                });
            }
            notes.push(format!(
                "{} is not the program that was recorded; replaying it anyway",
                report::shown(executable.shown())
            ));
        }
        let directory = Some(program.directory.clone()).filter(|directory| directory.is_dir());
        if directory.is_none() {
            notes.push(format!(
                "the program ran in {}, which does not exist; running it in this directory",
                report::shown(&program.directory)
            ));
        }
        let here = Path::new(".");
        trust::confirm(
            options.trace,
            program,
            &executable,
            &arguments,
            directory.as_deref().unwrap_or(here),
            options.consent,
        )?;
        let environment = Environment::of(&trace);
        notes.extend_from_slice(&environment.notes);
        Ok(Plan {
            trace: std::path::absolute(options.trace).map_err(Error::Scratch)?,
            executable,
            arguments,
            environment,
            directory,
            really_write: options.really_write,
            recorded: RecordedEnd {
                exit: trace.exit(),
                partial: trace.stop().is_some() || !trace.is_complete(),
            },
            notes,
        })
    }

    /// Notes for the user, to be printed before the first replay.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn trace(&self) -> &Path {
        &self.trace
    }

    pub(crate) fn executable(&self) -> &Path {
        self.executable.shown()
    }

    /// How the recorded run ended, if the trace contains it.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.recorded.exit
    }

    /// Returns the command of the recorded run, with its environment and directory.
    pub(crate) fn command(&self) -> Result<Command, Error> {
        let mut command = Command::new(self.executable.path()?);
        if let Some((name, arguments)) = self.arguments.split_first() {
            command.arg0(name).args(arguments);
        }
        command.env_clear().envs(self.environment.variables());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(command)
    }

    /// Runs the program once. `scratch` is a directory for temporary files; the log is written to `log`.
    pub(crate) fn run(
        &self,
        stdio: [Stdio; 3],
        scratch: &Path,
        log: Option<&Path>,
    ) -> Result<ReplayOutcome, Error> {
        self.run_with(stdio, scratch, log, None)
    }

    /// Like [`Plan::run`], with the probes of a file.
    pub(crate) fn run_with(
        &self,
        [input, output, errors]: [Stdio; 3],
        scratch: &Path,
        log: Option<&Path>,
        probes: Option<&Path>,
    ) -> Result<ReplayOutcome, Error> {
        // Each replay has its own directory: files from the last replay would mean that this one has already started.
        let scratch = TempDir::new_in(scratch).map_err(Error::Scratch)?;
        let report = scratch.path().join("report");
        let mut command = self.command()?;
        command
            .env("REENACT", "replay")
            .env("REENACT_TRACE", &self.trace)
            .env("REENACT_REPORT", &report)
            .stdin(input)
            .stdout(output)
            .stderr(errors);
        if let Some(log) = log {
            fs::File::create(log).map_err(Error::Scratch)?;
            command.env("REENACT_LOG", log);
        }
        // The program's own variables are those of the recorded run.
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value == "full") {
            command.env("REENACT_BACKTRACE", "full");
        }
        if self.really_write {
            command.env("REENACT_REALLY_WRITE", "1");
        }
        if let Some(probes) = probes {
            command.env(reenact_engine::probes::PLAN, probes);
        }
        let exit = process::start(&mut command)?.wait()?.exit;
        // The engine makes this file when it starts.
        if !report.with_extension("claim").exists() {
            return Err(Error::NotReplayed {
                executable: self.executable.shown().to_owned(),
                exit,
            });
        }
        let report = match fs::read(&report) {
            Ok(bytes) => EarlyEnd::parse(&String::from_utf8_lossy(&bytes)),
            Err(_) => None,
        };
        Ok(self.recorded.compare(exit, report))
    }
}

/// Returns the recorded name and either the arguments in `further` or, if there are none, the recorded ones.
fn arguments_for(recorded: &[OsString], further: &[OsString]) -> Vec<OsString> {
    match recorded.first() {
        Some(name) if !further.is_empty() => {
            let mut arguments = vec![name.clone()];
            arguments.extend_from_slice(further);
            arguments
        }
        _ => recorded.to_vec(),
    }
}

fn early_end(stop: StopReason) -> String {
    format!("recording ended early: {stop}; the replay ends there too")
}

/// Returns our standard input, from its start, if it is a file; otherwise no input. This is for replays whose output is
/// hidden, so that no one can answer their prompts.
pub(super) fn standard_input_if_file() -> Stdio {
    let input = io::stdin();
    let is_file = rustix::fs::fstat(&input)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
    if is_file && rustix::fs::seek(&input, SeekFrom::Start(0)).is_ok() {
        Stdio::inherit()
    } else {
        Stdio::null()
    }
}

/// The engine's report on a replay that the program did not end by itself, or that printed something else.
#[derive(Debug)]
enum EarlyEnd {
    Diverged(String),
    /// The program printed something else, and otherwise followed the recording.
    Printed(String),
    Ended,
}

impl EarlyEnd {
    fn parse(text: &str) -> Option<EarlyEnd> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        match first.trim() {
            "diverged" => Some(EarlyEnd::Diverged(rest.trim_end().to_owned())),
            "printed" => Some(EarlyEnd::Printed(rest.trim_end().to_owned())),
            "ended" => Some(EarlyEnd::Ended),
            _ => None,
        }
    }
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum ReplayOutcome {
    /// The program ended as recorded.
    Same {
        #[serde(serialize_with = "report::exit")]
        exit: Exit,
    },
    /// The program ended by itself, and it is not known how the recorded run ended.
    Exited {
        #[serde(serialize_with = "report::exit")]
        exit: Exit,
    },
    /// The recording ends before the program does, and the replay reached its end.
    Ended {
        #[serde(serialize_with = "report::optional_exit")]
        recorded: Option<Exit>,
    },
    /// The program followed the recording, but ended differently.
    Differs {
        #[serde(serialize_with = "report::optional_exit")]
        recorded: Option<Exit>,
        #[serde(serialize_with = "report::optional_exit")]
        exit: Option<Exit>,
    },
    /// The program followed the recording, but printed something else.
    PrintsDiffer { report: String },
    /// The program diverged from the recording.
    Diverged { report: String },
}

impl RecordedEnd {
    fn compare(self, exit: Exit, report: Option<EarlyEnd>) -> ReplayOutcome {
        match (report, self.exit) {
            (Some(EarlyEnd::Diverged(report)), _) => ReplayOutcome::Diverged { report },
            (Some(EarlyEnd::Printed(report)), _) => ReplayOutcome::PrintsDiffer { report },
            // A run that exited normally and was recorded to its end does not run out of trace.
            (Some(EarlyEnd::Ended), Some(recorded @ Exit::Status(_))) if !self.partial => {
                ReplayOutcome::Differs {
                    recorded: Some(recorded),
                    exit: None,
                }
            }
            (Some(EarlyEnd::Ended), recorded) => ReplayOutcome::Ended { recorded },
            (None, None) => ReplayOutcome::Exited { exit },
            (None, Some(recorded)) if recorded == exit => ReplayOutcome::Same { exit },
            (None, recorded) => ReplayOutcome::Differs {
                recorded,
                exit: Some(exit),
            },
        }
    }
}

impl ReplayOutcome {
    /// Whether the replay matches the recording, as far as the recording goes.
    pub(crate) fn is_same(&self) -> bool {
        match self {
            ReplayOutcome::Same { .. }
            | ReplayOutcome::Exited { .. }
            | ReplayOutcome::Ended { .. } => true,
            ReplayOutcome::Differs { .. }
            | ReplayOutcome::PrintsDiffer { .. }
            | ReplayOutcome::Diverged { .. } => false,
        }
    }

    /// Whether the operations were those of the recording, whatever was printed.
    pub(crate) fn has_followed(&self) -> bool {
        self.is_same() || matches!(self, ReplayOutcome::PrintsDiffer { .. })
    }

    /// The exit of `reenact replay` after this outcome.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            ReplayOutcome::Same { exit } | ReplayOutcome::Exited { exit } => *exit,
            ReplayOutcome::Ended { .. } => Exit::Status(0),
            ReplayOutcome::Differs { .. }
            | ReplayOutcome::PrintsDiffer { .. }
            | ReplayOutcome::Diverged { .. } => Exit::Status(DIVERGED),
        }
    }

    /// The engine's report on the difference, if it found one.
    pub(crate) fn report(&self) -> Option<&str> {
        match self {
            ReplayOutcome::PrintsDiffer { report } | ReplayOutcome::Diverged { report } => {
                Some(report)
            }
            _ => None,
        }
    }
}

impl fmt::Display for ReplayOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayOutcome::Same { exit } => write!(f, "same end: {exit}"),
            ReplayOutcome::Exited { exit } => {
                write!(
                    f,
                    "{exit} (the recording does not say how the program ended)"
                )
            }
            ReplayOutcome::Ended {
                recorded: Some(recorded),
            } => write!(
                f,
                "reached the end of the recording: the program {recorded}"
            ),
            ReplayOutcome::Ended { recorded: None } => {
                f.write_str("reached the end of the recording")
            }
            ReplayOutcome::Differs { recorded, exit } => {
                f.write_str("differs: ")?;
                match exit {
                    Some(exit) => write!(f, "{exit}")?,
                    None => f.write_str("did not end by itself")?,
                }
                match recorded {
                    Some(recorded) => write!(f, ", but the recorded program {recorded}"),
                    None => Ok(()),
                }
            }
            ReplayOutcome::PrintsDiffer { .. } => {
                f.write_str("differs: the program printed something else than the recorded one")
            }
            ReplayOutcome::Diverged { .. } => {
                f.write_str("diverged: the program did something else than the recording says")
            }
        }
    }
}
