//! Running the example `service`: off, recorded, replayed; never for longer than a test can wait.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::PathBuf,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use reenact_trace::Trace;
use tempfile::TempDir;

use crate::client::Client;

/// What takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who handles requests.
pub(crate) const SHAPES: [&str; 3] = ["threads", "actor", "processes"];

/// A place for one recording of a service.
pub(crate) struct Stage {
    directory: TempDir,
    shape: &'static str,
    environment: Vec<(&'static str, String)>,
}

impl Stage {
    pub(crate) fn new(shape: &'static str) -> Stage {
        Stage {
            directory: TempDir::new().unwrap(),
            shape,
            environment: Vec::new(),
        }
    }

    pub(crate) fn env(mut self, name: &'static str, value: &str) -> Stage {
        self.set(name, value);
        self
    }

    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.environment.retain(|(known, _)| *known != name);
        self.environment.push((name, value.to_owned()));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.path("run.reenact")
    }

    /// A stage, a service on it that is being recorded, and a client of that.
    pub(crate) fn recorded(shape: &'static str) -> (Stage, Service, Client) {
        let stage = Stage::new(shape);
        let service = stage.record();
        let client = service.client();
        (stage, service, client)
    }

    /// The service, off.
    pub(crate) fn start(&self) -> Service {
        self.service("off").listening()
    }

    /// The service, recorded.
    pub(crate) fn record(&self) -> Service {
        self.service("record").listening()
    }

    /// Makes one file of the trace and returns it.
    pub(crate) fn recovered(&self) -> Arc<Trace> {
        reenact_trace::recover(&self.trace()).unwrap();
        let trace = Arc::new(Trace::open(&self.trace()).unwrap());
        trace.check(|_| {}).expect("a trace is sound");
        trace
    }

    /// Whether these bytes are anywhere in the trace, or in what it is made of.
    pub(crate) fn trace_has(&self, bytes: &str) -> bool {
        self.recovered();
        let trace = fs::read(self.trace()).unwrap();
        trace
            .windows(bytes.len())
            .any(|part| part == bytes.as_bytes())
    }

    pub(crate) fn replay(&self) -> Outcome {
        self.service("replay").finish()
    }

    fn service(&self, mode: &str) -> Service {
        let mut path = std::env::current_exe().unwrap();
        path.pop();
        path.pop();
        path.push("examples/service");
        let report = self.path("report");
        let _ = fs::remove_file(&report);
        let mut child = Command::new(path)
            .args(self.shape.split(' '))
            .env("REENACT", mode)
            .env("REENACT_TRACE", self.trace())
            .env("REENACT_REPORT", &report)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo builds examples along with tests");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Service {
            child,
            stdout,
            printed: String::new(),
            address: None,
            report,
        }
    }
}

/// A service that runs.
pub(crate) struct Service {
    child: Child,
    stdout: BufReader<ChildStdout>,
    printed: String,
    address: Option<SocketAddr>,
    report: PathBuf,
}

impl Service {
    fn listening(mut self) -> Service {
        self.stdout.read_line(&mut self.printed).unwrap();
        let address = self.printed.trim().strip_prefix("listening on ");
        self.address = Some(address.expect("it listens").parse().unwrap());
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.expect("it listens")
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address())
    }

    /// Sends it a stop request, and waits until it has ended.
    pub(crate) fn stop(self) -> Outcome {
        assert_eq!(self.client().get("/stop").body, "stopping");
        self.finish()
    }

    /// Waits until it ends by itself.
    pub(crate) fn end(self) -> Outcome {
        self.finish()
    }

    /// Kills it, as with `kill -9`.
    pub(crate) fn kill(mut self) -> Outcome {
        self.child.kill().unwrap();
        self.finish()
    }

    fn finish(mut self) -> Outcome {
        let mut stderr = self.child.stderr.take().unwrap();
        let (sender, ended) = mpsc::channel();
        let (mut stdout, mut printed) = (self.stdout, self.printed);
        thread::spawn(move || {
            stdout.read_to_string(&mut printed).unwrap();
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            sender.send((printed, said))
        });
        let ended = ended.recv_timeout(PATIENCE);
        if ended.is_err() {
            self.child.kill().unwrap();
        }
        let status = self.child.wait().unwrap();
        let (stdout, stderr) = ended.expect("it hangs");
        Outcome {
            status,
            stdout,
            stderr,
            report: fs::read_to_string(self.report).ok(),
        }
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) report: Option<String>,
}

impl Outcome {
    /// Ended well, without a word from us.
    #[track_caller]
    pub(crate) fn fine(self) -> Outcome {
        assert!(self.status.success(), "{self:#?}");
        assert_eq!(self.report, None, "{self:#?}");
        assert!(!self.stderr.contains("reenact:"), "{self:#?}");
        self
    }

    /// A replay that is as the recording was.
    #[track_caller]
    pub(crate) fn is_same_as(&self, recorded: &Outcome) {
        assert_eq!(self.status, recorded.status, "{self:#?}");
        assert_eq!(self.stdout, recorded.stdout, "{self:#?}");
        assert_eq!(self.report, None, "{self:#?}");
    }

    /// A replay that went another way; what it says about that.
    #[track_caller]
    pub(crate) fn diverged(&self) -> &str {
        assert_eq!(self.status.code(), Some(86), "{self:#?}");
        self.report.as_deref().expect("it says so")
    }
}
