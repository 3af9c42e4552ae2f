//! The connection to a program that was started to answer requests for its universes.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    os::unix::{
        net::{UnixListener, UnixStream},
        process::{CommandExt, ExitStatusExt},
    },
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use reenact_trace::Exit;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::{Start, answer::Answer};
use crate::{error::Error, signals};

/// How often to check whether the program has connected, or the user has interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long to wait for an answer. Answers take milliseconds; a program that takes longer does something that is not
/// explored.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait for an answer after an interrupt.
const LITTLE_PATIENCE: Duration = Duration::from_secs(1);

/// A program that answers requests.
pub(super) struct Connection {
    program: Program,
    stream: UnixStream,
    /// Bytes that were received and not yet parsed.
    unread: Vec<u8>,
    /// Why the program does not answer any more.
    broken: Option<String>,
    _scratch: TempDir,
}

/// A process and its process group, which are killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

impl Connection {
    /// Starts a program, and waits until it is ready to answer. Returns the first lines that it sends.
    pub(super) fn open(start: &Start<'_>) -> Result<(Connection, Vec<String>), Error> {
        let mut starting = start.command();
        let program = &starting.get_program().to_owned();
        let scratch = TempDir::new().map_err(Error::Scratch)?;
        let socket = scratch.path().join("socket");
        let report = scratch.path().join("report");
        let listener = UnixListener::bind(&socket).map_err(Error::Scratch)?;
        listener.set_nonblocking(true).map_err(Error::Scratch)?;
        let mut options = format!("serve={}\n", socket.display());
        if start.unlocks {
            options += "releases\n";
        }
        if let Some(recording) = start.recording {
            options += &recording.request()?;
        }
        starting
            .env("REENACT", "explore")
            .env("REENACT_EXPLORE", options)
            .env("REENACT_REPORT", &report)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // An interrupt of the terminal is for this process only.
            .process_group(0);
        signals::leave_alone(&mut starting);
        let child = starting.spawn().map_err(|error| Error::Start {
            program: program.clone(),
            error,
        })?;
        let mut running = Program(child);
        let stream = loop {
            // In this order: the program may have connected and ended.
            let ended = running.0.try_wait().map_err(Error::Wait)?;
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Error::Scratch(error)),
            }
            if let Some(status) = ended {
                let report = fs::read_to_string(&report).unwrap_or_default();
                return Err(not_explored(program, status, &report));
            }
            thread::sleep(POLL_INTERVAL);
        };
        stream.set_nonblocking(false).map_err(Error::Scratch)?;
        stream
            .set_read_timeout(Some(POLL_INTERVAL))
            .map_err(Error::Scratch)?;
        let mut connection = Connection {
            program: running,
            stream,
            unread: Vec::new(),
            broken: None,
            _scratch: scratch,
        };
        let hello = connection.answer().map_err(|error| Error::Exploration {
            program: program.clone(),
            error,
        })?;
        Ok((connection, hello))
    }

    /// Requests a universe.
    pub(super) fn ask(&mut self, question: &str) -> Answer {
        if let Some(broken) = &self.broken {
            return Answer::error(broken.clone());
        }
        let asked = self.stream.write_all(format!("{question}\n").as_bytes());
        let answer = asked
            .map_err(|error| self.gone(&error.to_string()))
            .and_then(|()| self.answer());
        match answer {
            Ok(lines) => Answer::read(&lines),
            Err(error) => {
                self.broken = Some(error.clone());
                Answer::error(error)
            }
        }
    }

    /// Receives the lines of an answer.
    fn answer(&mut self) -> Result<Vec<String>, String> {
        let began = Instant::now();
        let mut lines = Vec::new();
        let mut looked_at = 0;
        loop {
            while let Some(end) = self.unread[looked_at..]
                .iter()
                .position(|&byte| byte == b'\n')
            {
                let line = &self.unread[looked_at..looked_at + end];
                let line = String::from_utf8_lossy(line).into_owned();
                looked_at += end + 1;
                if line == "end" {
                    self.unread.drain(..looked_at);
                    return Ok(lines);
                }
                lines.push(line);
            }
            self.read_more(began)?;
        }
    }

    fn read_more(&mut self, began: Instant) -> Result<(), String> {
        let mut bytes = [0; 1 << 14];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(self.gone("it has closed its socket")),
            Ok(length) => {
                self.unread.extend_from_slice(&bytes[..length]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                let waited = began.elapsed();
                let is_enough =
                    waited > PATIENCE || waited > LITTLE_PATIENCE && signals::is_interrupted();
                match is_enough {
                    true => Err(format!(
                        "the program does not answer, for {} seconds: it waits for, or computes, something that is not \
                         explored",
                        waited.as_secs()
                    )),
                    false => Ok(()),
                }
            }
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    /// Returns the error for a program that does not answer any more.
    fn gone(&mut self, why: &str) -> String {
        match self.program.0.try_wait() {
            Ok(Some(status)) => format!(
                "the process that explores the program is gone: {}",
                match (status.code(), status.signal()) {
                    (Some(code), _) => format!("it exited with status {code}"),
                    (None, signal) => {
                        format!("it was killed by signal {}", signal.unwrap_or_default())
                    }
                }
            ),
            _ => format!("the process that explores the program is gone: {why}"),
        }
    }
}

/// Returns why the program ended without having connected.
fn not_explored(program: &OsString, status: ExitStatus, report: &str) -> Error {
    let mut lines = report.lines();
    if let Some(error) = lines.find_map(|line| line.strip_prefix("error\t")) {
        return Error::Exploration {
            program: program.clone(),
            error: error.to_owned(),
        };
    }
    Error::NotExplored {
        program: program.clone(),
        exit: match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Status(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        },
    }
}
