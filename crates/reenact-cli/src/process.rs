//! Starts a program, waits for it, and exits the way it did.

use std::{
    ffi::OsStr,
    fs,
    ops::ControlFlow,
    os::unix::{ffi::OsStrExt, process::ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitCode},
    time::Duration,
};

use reenact_trace::{Exit, Program};
use rustix::{
    io::Errno,
    process::{
        DumpableBehavior, Pid, Resource, Rlimit, WaitId, WaitIdOptions, set_dumpable_behavior,
        setrlimit, waitid,
    },
};

use crate::{error::Error, signals};

/// A program that has ended.
pub(crate) struct Finished {
    pub(crate) exit: Exit,
    /// The name of the process at its end, truncated by the system.
    name: Vec<u8>,
}

/// The length at which the system truncates the names of processes.
const PROCESS_NAME: usize = 15;

/// A running program, to which signals are passed on.
pub(crate) struct RunningProgram {
    child: Child,
    recipient: signals::Recipient,
}

/// Starts a program.
pub(crate) fn start(command: &mut Command) -> Result<RunningProgram, Error> {
    signals::leave_alone(command);
    let child = command.spawn().map_err(|error| Error::Start {
        program: command.get_program().into(),
        error,
    })?;
    let recipient = signals::Recipient::new(&child);
    Ok(RunningProgram { child, recipient })
}

impl RunningProgram {
    /// Waits until the program has ended, and calls `on_tick` at an interval meanwhile, which may kill it.
    pub(crate) fn wait_and(
        mut self,
        every: Duration,
        mut on_tick: impl FnMut() -> ControlFlow<()>,
    ) -> Result<Finished, Error> {
        while self.child.try_wait().map_err(Error::Wait)?.is_none() {
            std::thread::sleep(every);
            if on_tick().is_break() {
                self.child.kill().map_err(Error::Wait)?;
                break;
            }
        }
        self.wait()
    }

    /// Waits until the program has ended.
    pub(crate) fn wait(self) -> Result<Finished, Error> {
        let RunningProgram {
            mut child,
            recipient,
        } = self;
        // Until it is reaped, the process keeps its name and its id.
        wait_without_reaping(&child);
        let name = fs::read(format!("/proc/{}/comm", child.id())).unwrap_or_default();
        drop(recipient);
        let status = child.wait().map_err(Error::Wait)?;
        Ok(Finished {
            exit: match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Status(code),
                (None, signal) => Exit::Signal(signal.unwrap_or(libc::SIGKILL)),
            },
            name: name.trim_ascii_end().to_vec(),
        })
    }
}

fn wait_without_reaping(child: &Child) {
    let pid = Pid::from_child(child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
}

impl Finished {
    /// Whether the process that ended most likely ran `program`, rather than, for example, a shell that ran it.
    pub(crate) fn was(&self, program: &Program) -> bool {
        let names = [
            Some(program.executable.as_os_str()),
            program.arguments.first().map(|name| name.as_os_str()),
        ];
        names.into_iter().flatten().any(|path| {
            let name = Path::new(path).file_name().map_or(&[][..], OsStr::as_bytes);
            !name.is_empty() && name[..name.len().min(PROCESS_NAME)] == self.name
        })
    }
}

/// Ends this process as another one ended: with its status, or by its signal. Suppresses a core dump of this process: a
/// core dump of the program is the one that is of interest.
pub(crate) fn follow(exit: Exit) -> ExitCode {
    match exit {
        Exit::Status(status) => ExitCode::from(status as u8),
        Exit::Signal(signal) => {
            let _ = setrlimit(
                Resource::Core,
                Rlimit {
                    current: Some(0),
                    maximum: Some(0),
                },
            );
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
            signals::die_by(signal);
            ExitCode::from(128u8.wrapping_add(signal as u8))
        }
    }
}
