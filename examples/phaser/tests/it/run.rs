//! Running a program to its end: recorded, replayed, or killed in between. Never for longer than a test can wait.

use std::{
    cell::Cell,
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// Nothing here takes a second. What has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program, and a directory for its trace.
pub(crate) struct Program {
    arguments: Vec<String>,
    directory: TempDir,
    replays: Cell<u32>,
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) status: ExitStatus,
    /// Only a replay that has something to say makes one.
    pub(crate) report: Option<String>,
}

impl Program {
    /// The example of this crate, with these arguments.
    pub(crate) fn new(arguments: &[String]) -> Program {
        Program {
            arguments: arguments.to_vec(),
            directory: TempDir::new().expect("a directory for the trace"),
            replays: Cell::new(0),
        }
    }

    /// Runs and records it. Nothing goes wrong.
    #[track_caller]
    pub(crate) fn record(&self) -> Outcome {
        let outcome = self.start("record", &[]).finish();
        assert!(outcome.status.success(), "{outcome:#?}");
        outcome
    }

    pub(crate) fn start_recording(&self) -> Running {
        self.start("record", &[])
    }

    /// Replays it, with other arguments than those that were recorded if there are any.
    #[track_caller]
    pub(crate) fn replay(&self, arguments: &[String]) -> Outcome {
        self.start("replay", arguments).finish()
    }

    fn start(&self, mode: &str, arguments: &[String]) -> Running {
        let arguments = match arguments {
            [] => &self.arguments,
            others => others,
        };
        self.replays.set(self.replays.get() + 1);
        let report = format!("report-{}", self.replays.get());
        let report = self.directory.path().join(report);
        let child = Command::new(example())
            .args(arguments)
            .env("REENACT", mode)
            .env("REENACT_TRACE", self.directory.path().join("run.reenact"))
            .env("REENACT_REPORT", &report)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("cargo builds examples along with tests");
        Running { child, report }
    }
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    report: PathBuf,
}

impl Running {
    /// Kills it, as with `kill -9`, after so many lines.
    pub(crate) fn kill_after(mut self, lines: usize) -> Outcome {
        let stdout = self.child.stdout.take().expect("it is piped");
        let mut stdout = BufReader::new(stdout);
        let mut text = String::new();
        for _ in 0..lines {
            stdout.read_line(&mut text).expect("it is text");
        }
        self.child.kill().expect("it is our child");
        stdout.read_to_string(&mut text).expect("it is text");
        self.ended(text)
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Outcome {
        let mut stdout = self.child.stdout.take().expect("it is piped");
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut text = String::new();
            let read = stdout.read_to_string(&mut text);
            sender.send(read.map(|_| text))
        });
        let Ok(text) = receiver.recv_timeout(PATIENCE) else {
            self.child.kill().expect("it is our child");
            panic!("it hangs");
        };
        self.ended(text.expect("it is text"))
    }

    fn ended(mut self, stdout: String) -> Outcome {
        Outcome {
            stdout,
            status: self.child.wait().expect("it is our child"),
            report: fs::read_to_string(self.report).ok(),
        }
    }
}

/// The example, which Cargo builds beside the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("this test's file");
    let profile = test.ancestors().nth(2).expect("…/debug/deps/it");
    profile.join("examples").join("crowd")
}
