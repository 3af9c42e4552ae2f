//! What the acts of the demo have in common: recording a program until it fails, and replaying that.

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

/// After so many runs without a failure something must be wrong.
const MOST_RUNS: u32 = 2000;
/// After so many, the program gets more work to do where it races: machines differ in how threads meet.
const RUNS_PER_AMOUNT: u32 = 10;

/// Where acts are played: a directory of our own, and standard output.
pub(super) struct Stage {
    directory: TempDir,
    this_program: PathBuf,
}

/// A run that failed.
pub(super) struct Catch {
    pub(super) trace: PathBuf,
    /// How many runs it took.
    pub(super) runs: u32,
    /// What the program had to say.
    pub(super) output: String,
}

/// A replay, as an act tells of it.
pub(super) struct Replayed {
    pub(super) outcome: Outcome,
    pub(super) output: String,
}

impl Stage {
    pub(super) fn set() -> Result<Stage, Failure> {
        Ok(Stage {
            directory: TempDir::with_prefix("reenact-demo-").map_err(Failure::Scratch)?,
            this_program: std::env::current_exe().map_err(Failure::Scratch)?,
        })
    }

    /// Tells the audience something.
    pub(super) fn say(&self, text: impl Display) -> Result<(), Failure> {
        writeln!(anstream::stdout(), "{text}").map_err(Failure::Output)
    }

    /// Records the program `name` again and again until it fails. `work` is how much it does where it races, at first.
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

    /// Replays a recording once.
    pub(super) fn replay(&self, trace: &Path) -> Result<Replayed, Failure> {
        self.replay_with(trace, None)
    }

    /// Replays a recording, noting every operation.
    pub(super) fn replay_with_log(&self, trace: &Path) -> Result<Vec<Operation>, Failure> {
        let path = self.directory.path().join("log");
        self.replay_with(trace, Some(&path))?;
        Ok(log::read(&path)?.collect())
    }

    fn replay_with(&self, trace: &Path, log: Option<&Path>) -> Result<Replayed, Failure> {
        let plan = Plan::new(&Request {
            trace,
            force: false,
            command: &[],
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
