//! The oracle for a whole service: recorded under load, it replays from its trace alone.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use tempfile::TempDir;

const CLIENTS: usize = 64;
/// What takes this long hangs. A minute of load may take several to replay, if the build is not optimized.
const PATIENCE: Duration = Duration::from_secs(600);

/// A service in a directory of its own.
struct Stage {
    directory: TempDir,
}

struct Service {
    child: Child,
    stdout: BufReader<ChildStdout>,
    printed: String,
}

#[derive(Debug)]
struct Outcome {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    report: Option<String>,
}

impl Stage {
    fn new() -> Stage {
        Stage {
            directory: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The service in this mode, started by this command if it is not to be started directly.
    fn start(&self, mode: &str, by: &[&str]) -> Service {
        let service = env!("CARGO_BIN_EXE_acme-air");
        let words: Vec<_> = by.iter().copied().chain([service]).collect();
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .arg("--database")
            .arg(self.path("acme-air.redb"))
            .env("REENACT", mode)
            .env("REENACT_TRACE", self.path("run.reenact"))
            .env("REENACT_REPORT", self.path("report"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Service {
            child,
            stdout,
            printed: String::new(),
        }
    }

    /// What came of the service, once it has ended.
    fn finish(&self, service: Service) -> Outcome {
        let Service {
            mut child,
            mut stdout,
            mut printed,
        } = service;
        let mut stderr = child.stderr.take().unwrap();
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            stdout.read_to_string(&mut printed).unwrap();
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            sender.send((printed, said))
        });
        let ended = ended.recv_timeout(PATIENCE);
        if ended.is_err() {
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        let (stdout, stderr) = ended.expect("it hangs");
        Outcome {
            status,
            stdout,
            stderr,
            report: fs::read_to_string(self.path("report")).ok(),
        }
    }
}

impl Service {
    fn address(&mut self) -> SocketAddr {
        self.stdout.read_line(&mut self.printed).unwrap();
        let address = self.printed.trim().strip_prefix("acme-air listens on ");
        address.expect("it listens").parse().unwrap()
    }
}

/// So many clients for so long; what they have seen, as JSON.
fn load(address: SocketAddr, seconds: u32, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_acme-air-load"))
        .arg(address.to_string())
        .args(["--clients", &CLIENTS.to_string()])
        .args(["--seconds", &seconds.to_string()])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Records the service under load, and replays it with its port taken, its database gone and, where we may do that,
/// without any network at all.
fn replays_after(seconds: u32, more: &[&str]) {
    let stage = Stage::new();
    let mut service = stage.start("record", &[]);
    let address = service.address();
    let load = load(address, seconds, &[more, &["--stop"]].concat())
        .wait_with_output()
        .unwrap();
    let seen = String::from_utf8_lossy(&load.stdout).into_owned();
    assert!(seen.contains(r#""errors":0"#), "{seen}");
    let recorded = stage.finish(service);
    assert!(recorded.status.success(), "{recorded:#?}");
    assert_eq!(recorded.stderr, "");
    assert_eq!(recorded.stdout.lines().count(), 5, "{recorded:#?}");

    reenact_trace::recover(&stage.path("run.reenact")).unwrap();
    fs::remove_file(stage.path("acme-air.redb")).unwrap();
    let _taken = TcpListener::bind(address).unwrap();
    let mut ways: Vec<&[&str]> = vec![&[]];
    if may_unshare() {
        ways.push(&UNSHARE);
    }
    for by in ways {
        let replayed = stage.start("replay", by);
        let replayed = stage.finish(replayed);
        assert_eq!(replayed.report, None, "{replayed:#?}");
        assert_eq!(replayed.stdout, recorded.stdout, "{replayed:#?}");
        assert!(replayed.status.success(), "{replayed:#?}");
        assert!(!stage.path("acme-air.redb").exists());
    }
}

/// Starts a program that has no network.
const UNSHARE: [&str; 3] = ["unshare", "--map-root-user", "--net"];

fn may_unshare() -> bool {
    let tried = Command::new(UNSHARE[0])
        .args(&UNSHARE[1..])
        .arg("true")
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

#[test]
fn a_service_under_load_replays_without_network_and_database() {
    replays_after(3, &[]);
}

/// At a rate that a build that is not optimized can answer.
#[test]
fn a_service_under_load_for_a_minute_replays_without_network_and_database() {
    replays_after(60, &["--rate", "400"]);
}

#[test]
fn a_service_that_is_killed_under_load_replays_up_to_there() {
    let stage = Stage::new();
    let mut service = stage.start("record", &[]);
    let address = service.address();
    let mut long = load(address, 60, &[]);
    // While some clients have seen enough, others are in the midst of something.
    let short = load(address, 1, &[]).wait_with_output().unwrap();
    assert!(short.status.success());
    service.child.kill().unwrap();
    long.kill().unwrap();
    long.wait().unwrap();
    let recorded = stage.finish(service);
    assert_eq!(recorded.stdout.lines().count(), 1);

    reenact_trace::recover(&stage.path("run.reenact")).unwrap();
    fs::remove_file(stage.path("acme-air.redb")).unwrap();
    let replayed = stage.start("replay", &[]);
    let replayed = stage.finish(replayed);
    assert!(replayed.status.success(), "{replayed:#?}");
    let report = replayed.report.as_deref().unwrap_or_default();
    assert!(report.starts_with("ended\n"), "{replayed:#?}");
    assert_eq!(replayed.stdout, recorded.stdout);
}
