//! The connection to a program that was started to answer requests for its universes.

use std::{
    ffi::OsString,
    io::{self, ErrorKind, Read},
    os::unix::{
        net::{UnixListener, UnixStream},
        process::{CommandExt, ExitStatusExt},
    },
    process::{Child, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use reenact_engine::explore::protocol::{Hello, Reply, Request, receive, refusal, send};
use reenact_trace::Exit;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::Start;
use crate::{error::Error, signals};

/// How often to check whether the program has connected, or the user has interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How long to wait for an answer. Answers take milliseconds; a program that takes longer does something that is not
/// explored.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait for an answer after an interrupt.
const LITTLE_PATIENCE: Duration = Duration::from_secs(1);

/// A program that answers requests for universes.
pub(super) struct Connection {
    program: Program,
    stream: UnixStream,
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
    /// Starts a program, and waits until it is ready to answer. Returns the first message that it
    /// sends.
    pub(super) fn open(start: &Start<'_>) -> Result<(Connection, Hello), Error> {
        let mut starting = start.command()?;
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
        if start.spurious_wakeups > 0 {
            options += &format!("spurious-wakeups={}\n", start.spurious_wakeups);
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
                return Err(not_explored(program, status, refusal(&report)));
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
            broken: None,
            _scratch: scratch,
        };
        let hello = connection.receive().map_err(|error| Error::Exploration {
            program: program.clone(),
            error,
        })?;
        Ok((connection, hello))
    }

    /// Requests a universe.
    pub(super) fn ask(&mut self, request: &Request) -> Reply {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let sent = send(&mut self.stream, request);
        let reply = sent
            .map_err(|error| self.gone(&error.to_string()))
            .and_then(|()| self.receive());
        reply.unwrap_or_else(|error| {
            self.broken = Some(error.clone());
            Err(error)
        })
    }

    fn receive<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let began = Instant::now();
        let mut patient = Patient {
            stream: &self.stream,
            began,
        };
        receive(&mut patient).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => format!(
                "the program does not answer, for {} seconds: it waits for, or computes, something that is not explored",
                began.elapsed().as_secs()
            ),
            ErrorKind::UnexpectedEof => self.gone("it has closed its socket"),
            ErrorKind::InvalidInput | ErrorKind::InvalidData => format!("the reply of the program is malformed: {error}"),
            _ => self.gone(&error.to_string()),
        })
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

/// Reads from a stream that times out each [`POLL_INTERVAL`], until the patience is at an end.
struct Patient<'a> {
    stream: &'a UnixStream,
    began: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            let waited = self.began.elapsed();
            if waited > PATIENCE || waited > LITTLE_PATIENCE && signals::is_interrupted() {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Returns why the program ended without having connected.
fn not_explored(program: &OsString, status: ExitStatus, refusal: Option<String>) -> Error {
    if let Some(error) = refusal {
        return Error::Exploration {
            program: program.clone(),
            error,
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
