//! Running `reenact-bench-round`, or `peer-round` for another library, as a child process.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{bench::Strategy, variant::Variant, wait};
use crate::{Measured, cores::Cores};

/// Starts runs, and knows where their traces are.
pub(super) struct Runner {
    executable: PathBuf,
    peers: PathBuf,
    trace: PathBuf,
    discarded: PathBuf,
}

/// What to run.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) workload: &'a str,
    /// What the workload is called on another library.
    pub(super) program: &'a str,
    pub(super) variant: Variant,
    pub(super) cores: Cores,
    pub(super) strategy: Strategy,
    pub(super) scale: f64,
    /// When to give up.
    pub(super) limit: Duration,
}

/// What a run gave.
pub(super) struct Run {
    pub(super) measured: Measured,
    pub(super) peak_memory: u64,
    /// The size of the trace over the number of operations, if this run recorded one.
    pub(super) bytes_per_op: Option<f64>,
}

impl Runner {
    /// A runner that keeps its traces in `directory`.
    pub(super) fn new(executable: &Path, peers: &Path, directory: &Path) -> io::Result<Self> {
        present(
            executable,
            "build both binaries, `cargo build --release -p reenact-bench`",
        )?;
        Ok(Self {
            executable: executable.to_owned(),
            peers: peers.to_owned(),
            trace: directory.join("bench.reenact"),
            discarded: directory.join("discarded.reenact"),
        })
    }

    /// Runs `job`. The error says what went wrong, with what the child wrote about it.
    pub(super) fn run(&self, job: &Job<'_>) -> Result<Run, String> {
        let (measured, peak_memory) = self.measure(job)?;
        let bytes_per_op = match job.variant {
            Variant::Record => Some(self.complete_trace()? as f64 / measured.ops as f64),
            _ => None,
        };
        Ok(Run {
            measured,
            peak_memory,
            bytes_per_op,
        })
    }

    /// What `job` took, and the most memory it had. A trace is left as the program left it.
    pub(super) fn measure(&self, job: &Job<'_>) -> Result<(Measured, u64), String> {
        let (output, peak_memory) = self.output(job)?;
        let measured = serde_json::from_str(&output)
            .map_err(|error| format!("printed {output:?}, which is not a measurement: {error}"))?;
        Ok((measured, peak_memory))
    }

    /// The versions of the other libraries, by name. The error says so if they are not there.
    pub(super) fn versions_of_peers(&self) -> io::Result<BTreeMap<String, String>> {
        versions_of_peers(&self.peers)
    }

    fn command(&self, job: &Job<'_>) -> Command {
        if let Variant::Peer(peer) = job.variant {
            let mut command = Command::new(&self.peers);
            command
                .args([peer.name(), job.program])
                .args(["--workers", &job.cores.count().to_string()])
                .args(["--scale", &job.scale.to_string()]);
            return command;
        }
        let mut command = Command::new(&self.executable);
        command
            .arg(job.workload)
            .args(["--impl", job.variant.implementation()])
            .args(["--scale", &job.scale.to_string()])
            .env_remove("REENACT")
            .env_remove("REENACT_TRACE")
            .env_remove("REENACT_DISCARD")
            .env_remove("REENACT_STRATEGY")
            .env("REENACT_WORKERS", job.cores.count().to_string());
        if job.strategy == Strategy::Sender {
            command.env("REENACT_STRATEGY", "sender");
        }
        if let Some(mode) = job.variant.mode() {
            command.env("REENACT", mode);
        }
        match job.variant {
            Variant::Std | Variant::Off | Variant::OffAgain | Variant::Peer(_) => {}
            Variant::Record => {
                remove_trace(&self.trace);
                command.env("REENACT_TRACE", &self.trace);
            }
            Variant::Replay => {
                command.env("REENACT_TRACE", &self.trace);
            }
            Variant::Discard => {
                remove_trace(&self.discarded);
                command.env("REENACT_TRACE", &self.discarded);
                command.env("REENACT_DISCARD", "1");
            }
        }
        command
    }

    /// What the child printed, and the most memory it had.
    fn output(&self, job: &Job<'_>) -> Result<(String, u64), String> {
        output(&mut self.command(job), job.cores, job.limit)
    }

    /// Makes one file of the trace, as replaying it does, and returns its size.
    pub(super) fn complete_trace(&self) -> Result<u64, String> {
        reenact_trace::recover(&self.trace).map_err(|error| error.to_string())?;
        let metadata = fs::metadata(&self.trace)
            .map_err(|error| format!("there is no trace at {}: {error}", self.trace.display()))?;
        Ok(metadata.len())
    }
}

/// The versions of the libraries that `peers` runs programs on, by name. The error says so if it is not there.
pub(super) fn versions_of_peers(peers: &Path) -> io::Result<BTreeMap<String, String>> {
    present(
        peers,
        "`cargo xtask bench` builds it for the suites that need it",
    )?;
    let output = Command::new(peers).arg("--versions").output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What a child on these cores printed, and the most memory it had. The error says what went wrong, with what the child
/// wrote about it.
pub(super) fn output(
    command: &mut Command,
    cores: Cores,
    limit: Duration,
) -> Result<(String, u64), String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = start(command, cores)
        .map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
    let output = read_to_end(child.stdout.take().expect("it is piped"));
    let complaints = read_to_end(child.stderr.take().expect("it is piped"));
    // A child's standard output is closed when it ends, so that this waits for the child.
    let in_time = output.recv_timeout(limit);
    if in_time.is_err() {
        let _ = child.kill();
    }
    let (status, peak_memory) =
        wait::wait(child).map_err(|error| format!("cannot wait for the child: {error}"))?;
    let last_words = || last_lines(&complaints.recv().unwrap_or_default());
    let Ok(output) = in_time else {
        let limit = limit.as_secs();
        return Err(format!("gave up after {limit} s{}", last_words()));
    };
    if !status.success() {
        return Err(format!("{status}{}", last_words()));
    }
    Ok((output, peak_memory))
}

/// Starts a child on these cores. It has those of the thread that starts it, so that is one of its own.
fn start(command: &mut Command, cores: Cores) -> io::Result<Child> {
    thread::scope(|scope| {
        let started = scope.spawn(|| {
            cores.apply()?;
            command.spawn()
        });
        started.join().expect("starting a process does not panic")
    })
}

/// An error that says what to do unless there is such a file.
pub(super) fn present(executable: &Path, otherwise: &str) -> io::Result<()> {
    if executable.is_file() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!("{} is missing: {otherwise}", executable.display()),
    ))
}

/// Makes way for a recording, which never overwrites a trace.
pub(super) fn remove_trace(path: &Path) {
    for file in [path, &reenact_trace::live_path(path)] {
        // Usually there is none; if it cannot be removed, the run will find no trace of its own.
        let _ = fs::remove_file(file);
    }
}

/// Reads a pipe on a thread of its own, so that a child never blocks on it.
fn read_to_end(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        // If nobody waits any more, nobody wants the text.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The end of what a child wrote, indented under the message it belongs to.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(12)..];
    last.iter().map(|line| format!("\n    {line}")).collect()
}
