//! What the acts of the demo share: recording a program until it fails, and replaying the failure.

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
    error::Failure,
    record::{self, Recording},
    replay::{Operation, Outcome, Plan, Request, log},
    report, signals,
};

/// The demo gives up after this many runs without a failure.
const MOST_RUNS: u32 = 2000;
/// After every this many runs, the program does more work where it races: machines differ in how threads interleave.
const RUNS_PER_AMOUNT: u32 = 10;

/// What an act works with: a temporary directory, and standard output.
pub(super) struct Stage {
    directory: TempDir,
    this_program: PathBuf,
}

/// How many times an act replays the failure.
const REPLAYS: usize = 5;

/// A run that failed.
pub(super) struct Catch {
    trace: PathBuf,
    /// The number of runs until the failure.
    runs: u32,
    /// The standard error of the program.
    output: String,
}

/// The result of a replay.
struct Replayed {
    outcome: Outcome,
    output: String,
}

/// Returns the panic message of the program: the line that contains `word`.
fn complaint<'a>(output: &'a str, word: &str) -> &'a str {
    output
        .lines()
        .find(|line| line.contains(word))
        .unwrap_or("it ended in an unexpected way")
        .trim()
}

impl Stage {
    pub(super) fn set() -> Result<Stage, Failure> {
        Ok(Stage {
            directory: TempDir::with_prefix("reenact-demo-").map_err(Failure::Scratch)?,
            this_program: std::env::current_exe().map_err(Failure::Scratch)?,
        })
    }

    /// Prints a line.
    pub(super) fn say(&self, text: impl Display) -> Result<(), Failure> {
        writeln!(anstream::stdout(), "{text}").map_err(Failure::Output)
    }

    /// Records the program `name` repeatedly until it fails. `work` is how much it does where it races, in the first
    /// runs.
    pub(super) fn record_until_it_fails(&self, name: &str, work: u64) -> Result<Catch, Failure> {
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
                return self.caught(runs, &recording);
            }
        }
        progress.finish_and_clear();
        Err(Failure::DemoWentWell { runs: MOST_RUNS })
    }

    fn caught(&self, runs: u32, recording: &Recording) -> Result<Catch, Failure> {
        let output = self.output();
        match recording.traces.first() {
            Some(trace) => Ok(Catch {
                trace: trace.path().to_owned(),
                runs,
                output,
            }),
            None => Err(Failure::DemoBroken {
                what: format!("its program recorded nothing. It said:\n{output}"),
            }),
        }
    }

    /// Shows how the program failed, by the line of its output that contains `word`, and that it fails the same way in
    /// every replay.
    pub(super) fn show_failure_and_replays(
        &self,
        catch: &Catch,
        word: &str,
    ) -> Result<(), Failure> {
        let complained = complaint(&catch.output, word);
        self.say(format_args!(
            "    run {} failed: {complained}\n",
            catch.runs
        ))?;
        self.say(
            "Run it again, and it will most likely go well. Replay the recording, and it cannot:\n",
        )?;
        for number in 1..=REPLAYS {
            let replayed = self.replay_with(&catch.trace, None)?;
            let said = complaint(&replayed.output, word);
            if !matches!(replayed.outcome, Outcome::Same { .. }) || said != complained {
                return Err(Failure::DemoBroken {
                    what: format!(
                        "a replay went another way: {}\n{}",
                        replayed.outcome, replayed.output
                    ),
                });
            }
            self.say(format_args!("    replay {number} of {REPLAYS}: {said}"))?;
        }
        self.say(
            "\nA failure that comes every time can be looked at. This is what happened, in this order:\n",
        )
    }

    /// Replays a failure and returns all operations.
    pub(super) fn replay_with_log(&self, catch: &Catch) -> Result<Vec<Operation>, Failure> {
        let path = self.directory.path().join("log");
        self.replay_with(&catch.trace, Some(&path))?;
        log::read(&path)
    }

    fn replay_with(&self, trace: &Path, log: Option<&Path>) -> Result<Replayed, Failure> {
        let plan = Plan::new(&Request {
            trace,
            force: false,
            command: &[],
            really_write: false,
        })?;
        let stdio = [Stdio::null(), Stdio::null(), self.output_file()?.into()];
        let outcome = plan.run(stdio, self.directory.path(), log)?;
        Ok(Replayed {
            outcome,
            output: self.output(),
        })
    }

    fn output_file(&self) -> Result<File, Failure> {
        File::create(self.directory.path().join("output")).map_err(Failure::Scratch)
    }

    fn output(&self) -> String {
        let bytes = fs::read(self.directory.path().join("output")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
