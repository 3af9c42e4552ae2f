//! Recording a program and replaying the recording: the oracle that all interleaving tests here share.
//!
//! A replay must print what the recording printed, end as it ended, and leave no report. The programs are those of
//! `examples/programs`.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use reenact_testing::patience;
use reenact_trace::{Trace, recover};

/// Nothing here takes a second of its own time. A process that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often an interleaving test records its program, unless `REENACT_RECORDINGS` says otherwise.
const RECORDINGS: usize = 4;
/// How often each recording is replayed.
const REPLAYS: usize = 12;

/// Records the program some times, and replays each recording some times.
#[track_caller]
pub(crate) fn check(program: &str) {
    check_then(program, |_| {});
}

/// As [`check`], with something that must hold of every recording.
#[track_caller]
pub(crate) fn check_then(program: &str, holds: impl Fn(&Outcome)) {
    let recordings = match std::env::var("REENACT_RECORDINGS") {
        Ok(recordings) => recordings.parse().expect("REENACT_RECORDINGS is a number"),
        Err(_) => RECORDINGS,
    };
    for _ in 0..recordings {
        let run = Run::record(program, &[]);
        holds(&run.outcome);
        run.replay(REPLAYS);
    }
}

/// How a process ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) status: ExitStatus,
}

/// A recorded run, with its trace in a directory of its own. The directory stays where a test fails.
pub(crate) struct Run {
    command: Vec<OsString>,
    directory: PathBuf,
    /// Whether the directory is worth keeping.
    failed: AtomicBool,
    replays: AtomicUsize,
    /// How the recorded run went.
    pub(crate) outcome: Outcome,
}

impl Run {
    /// Records the program and checks the trace.
    #[track_caller]
    pub(crate) fn record(program: &str, arguments: &[&str]) -> Run {
        Run::try_record(program, arguments).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Replays the recording this often.
    #[track_caller]
    pub(crate) fn replay(&self, times: usize) -> &Run {
        for _ in 0..times {
            self.try_replay()
                .unwrap_or_else(|failure| panic!("{failure}"));
        }
        self
    }

    pub(crate) fn try_record(program: &str, arguments: &[&str]) -> Result<Run, String> {
        let command: Vec<OsString> = [program]
            .iter()
            .chain(arguments)
            .map(OsString::from)
            .collect();
        let directory = tempfile::Builder::new()
            .prefix("reenact-it-")
            .tempdir()
            .expect("a directory for the trace")
            .keep();
        let mut run = Run {
            command,
            directory,
            failed: AtomicBool::new(false),
            replays: AtomicUsize::new(0),
            outcome: Outcome {
                stdout: String::new(),
                status: ExitStatus::from_raw(0),
            },
        };
        match run.be_recorded() {
            Ok(outcome) => {
                run.outcome = outcome;
                Ok(run)
            }
            Err(why) => Err(run.failure("recording", &why)),
        }
    }

    fn be_recorded(&self) -> Result<Outcome, String> {
        let outcome = self.start("record", |_| {})?;
        let stderr = self.stderr("record");
        if stderr.contains("reenact:") {
            return Err(format!("recording did not go well:\n{stderr}"));
        }
        recover(&self.trace()).map_err(|error| format!("cannot recover: {error}"))?;
        let trace = Trace::open(&self.trace()).map_err(|error| format!("cannot open: {error}"))?;
        if !trace.is_complete() || trace.stop().is_some() {
            return Err(format!("the trace has not everything: {:?}", trace.stop()));
        }
        Arc::new(trace)
            .check(|_| {})
            .map_err(|error| format!("the trace is not sound: {error}"))?;
        Ok(outcome)
    }

    pub(crate) fn try_replay(&self) -> Result<(), String> {
        let number = self.replays.fetch_add(1, Ordering::Relaxed);
        let name = format!("replay{number}");
        self.be_replayed(&name)
            .map_err(|why| self.failure(&name, &why))
    }

    fn be_replayed(&self, name: &str) -> Result<(), String> {
        let report = self.directory.join(format!("{name}.report"));
        let replayed = self.start(name, |command| {
            command.env("REENACT_REPORT", &report);
        });
        if let Ok(text) = fs::read_to_string(&report) {
            return Err(format!("it left a report:\n{text}"));
        }
        let replayed = replayed?;
        if replayed != self.outcome {
            let stderr = self.stderr(name);
            let recorded = &self.outcome;
            return Err(format!(
                "recorded: {recorded:?}\nreplayed: {replayed:?}\nstderr of the replay:\n{stderr}"
            ));
        }
        Ok(())
    }

    /// Where the trace is.
    pub(crate) fn trace(&self) -> PathBuf {
        self.directory.join("run.reenact")
    }

    fn stderr(&self, name: &str) -> String {
        let bytes = fs::read(self.directory.join(format!("{name}.stderr")));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    /// Runs the program to its end: records if `name` says so, replays otherwise.
    fn start(&self, name: &str, setup: impl FnOnce(&mut Command)) -> Result<Outcome, String> {
        let stderr = File::create(self.directory.join(format!("{name}.stderr")))
            .expect("a file for what the program says");
        let mode = if name == "record" { "record" } else { "replay" };
        let mut command = Command::new(programs());
        command
            .args(&self.command)
            .env("REENACT", mode)
            .env("REENACT_TRACE", self.trace())
            .env_remove("REENACT_LOG")
            .env_remove("REENACT_REPORT")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr);
        setup(&mut command);
        watched(command)
    }

    /// What went wrong, and where the files are that may explain it.
    fn failure(&self, what: &str, why: &str) -> String {
        let command: Vec<_> = self
            .command
            .iter()
            .map(|argument| argument.to_string_lossy())
            .collect();
        self.failed.store(true, Ordering::Relaxed);
        format!(
            "{what} of `programs {}`: {why}\nkept: {}",
            command.join(" "),
            self.directory.display()
        )
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.failed.load(Ordering::Relaxed) && !std::thread::panicking() {
            // Another time: a directory that stays does no harm.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// The example program, which Cargo builds beside the tests.
fn programs() -> PathBuf {
    let test = std::env::current_exe().expect("this test's file");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("…/debug/deps/it");
    profile.join("examples").join("programs")
}

/// Runs the command to its end, or kills it when it hangs.
fn watched(mut command: Command) -> Result<Outcome, String> {
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", programs().display()))?;
    let mut stdout = child.stdout.take().expect("piped");
    let (sender, receiver) = mpsc::channel();
    // The pipe is at its end when the process is.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    let printed = patience::receive(&receiver, child.id(), PATIENCE);
    if printed.is_err() {
        child.kill().expect("it is our child");
    }
    let status = child.wait().expect("it is our child");
    reader.join().expect("reading does not panic");
    match printed {
        Ok(Ok(stdout)) => Ok(Outcome { stdout, status }),
        Ok(Err(error)) => Err(format!("it printed what is not text: {error}")),
        Err(_) => Err("hung".to_owned()),
    }
}
