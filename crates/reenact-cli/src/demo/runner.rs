//! What the demos share: recording a program until it fails, and replaying the failure.

use std::{
    fmt::Display,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use reenact_trace::Exit;
use tempfile::TempDir;

use crate::{
    error::Error,
    record::{self, RecordedRun},
    replay::{Operation, Plan, ReplayOptions, ReplayOutcome, log},
    report, screen, signals,
    trust::Consent,
};

/// The demo gives up after this many runs without a failure.
const MOST_RUNS: u32 = 2000;
/// After every this many runs, the program does more work where it races: machines differ in how threads interleave.
const RUNS_PER_AMOUNT: u32 = 10;

/// What a demo works with: a temporary directory, and standard output.
pub(super) struct DemoRunner {
    directory: TempDir,
    this_program: PathBuf,
}

/// How many times a demo replays the failure.
const REPLAYS: usize = 5;

/// A run that failed.
pub(super) struct FailedRun {
    trace: PathBuf,
    /// The number of runs until the failure.
    runs: u32,
    /// The standard error of the program.
    output: String,
}

/// The result of a replay.
struct DemoReplay {
    outcome: ReplayOutcome,
    output: String,
}

/// Returns the panic message of the program: the line that contains `word`.
fn panic_line<'a>(output: &'a str, word: &str) -> &'a str {
    output
        .lines()
        .find(|line| line.contains(word))
        .unwrap_or("it ended in an unexpected way")
        .trim()
}

impl DemoRunner {
    pub(super) fn new() -> Result<DemoRunner, Error> {
        Ok(DemoRunner {
            directory: TempDir::with_prefix("reenact-demo-").map_err(Error::Scratch)?,
            this_program: std::env::current_exe().map_err(Error::Scratch)?,
        })
    }

    /// Prints a line.
    pub(super) fn print(&self, text: impl Display) -> Result<(), Error> {
        writeln!(screen::stdout(), "{text}").map_err(Error::Output)
    }

    /// Records the program `name` repeatedly until it fails. `work` is how much it does where it races, in the first
    /// runs.
    pub(super) fn record_until_it_fails(&self, name: &str, work: u64) -> Result<FailedRun, Error> {
        let trace = self.directory.path().join(name).with_extension("reenact");
        let progress = report::spinner("recording", "runs, none has failed yet");
        for runs in 1..=MOST_RUNS {
            let amounts = u64::from((runs - 1) / RUNS_PER_AMOUNT + 1);
            let mut command = Command::new(&self.this_program);
            command
                .args(["demo-program", name, &(work * amounts).to_string()])
                .env("RUST_BACKTRACE", "0")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(self.output_file()?);
            let recording = record::record(&mut command, &trace)?;
            progress.inc(1);
            if signals::received().is_some() {
                break;
            }
            if recording.exit != Exit::Status(0) {
                progress.finish_and_clear();
                return self.failed_run(runs, &recording);
            }
        }
        progress.finish_and_clear();
        Err(Error::DemoWentWell { runs: MOST_RUNS })
    }

    fn failed_run(&self, runs: u32, recording: &RecordedRun) -> Result<FailedRun, Error> {
        let output = self.output();
        match recording.traces.first() {
            Some(trace) => Ok(FailedRun {
                trace: trace.path().to_owned(),
                runs,
                output,
            }),
            None => Err(Error::DemoBroken {
                what: format!("its program recorded nothing. It said:\n{output}"),
            }),
        }
    }

    /// Shows how the program failed, by the line of its output that contains `word`, and that it fails the same way in
    /// every replay.
    pub(super) fn show_failure_and_replays(
        &self,
        failed: &FailedRun,
        word: &str,
    ) -> Result<(), Error> {
        let failure = panic_line(&failed.output, word);
        self.print(format_args!("    run {} failed: {failure}\n", failed.runs))?;
        self.print(
            "Run it again, and it will most likely go well. Replay the recording, and it cannot:\n",
        )?;
        for number in 1..=REPLAYS {
            let replayed = self.replay_with(&failed.trace, None)?;
            let again = panic_line(&replayed.output, word);
            if !matches!(replayed.outcome, ReplayOutcome::Same { .. }) || again != failure {
                return Err(Error::DemoBroken {
                    what: format!(
                        "a replay went another way: {}\n{}",
                        replayed.outcome, replayed.output
                    ),
                });
            }
            self.print(format_args!("    replay {number} of {REPLAYS}: {again}"))?;
        }
        self.print(
            "\nA failure that comes every time can be looked at. This is what happened, in this order:\n",
        )
    }

    /// Replays a failure and returns all operations.
    pub(super) fn replay_with_log(&self, failed: &FailedRun) -> Result<Vec<Operation>, Error> {
        let path = self.directory.path().join("log");
        self.replay_with(&failed.trace, Some(&path))?;
        log::read(&path)
    }

    fn replay_with(&self, trace: &Path, log: Option<&Path>) -> Result<DemoReplay, Error> {
        let plan = Plan::new(&ReplayOptions {
            trace,
            force: false,
            command: &[],
            // It is this program.
            consent: Consent {
                is_named: true,
                is_trusted: false,
            },
            really_write: false,
        })?;
        let stdio = [Stdio::null(), Stdio::null(), self.output_file()?.into()];
        let outcome = plan.run(stdio, self.directory.path(), log)?;
        Ok(DemoReplay {
            outcome,
            output: self.output(),
        })
    }

    fn output_file(&self) -> Result<File, Error> {
        File::create(self.directory.path().join("output")).map_err(Error::Scratch)
    }

    fn output(&self) -> String {
        let bytes = fs::read(self.directory.path().join("output")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
