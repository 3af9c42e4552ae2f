//! Starting a program, waiting for it, and ending as it did.

use std::{
    ffi::OsStr,
    fs,
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

use crate::{error::Failure, signals};

/// A program that has run.
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) exit: Exit,
    /// What the system called the process at its end, as far as the system keeps names.
    name: Vec<u8>,
}

/// The system cuts the names of processes at this length.
const PROCESS_NAME: usize = 15;

/// A program that is running, and to which signals are passed on.
pub(crate) struct Running {
    child: Child,
    recipient: signals::Recipient,
}

/// Starts a program.
pub(crate) fn start(command: &mut Command) -> Result<Running, Failure> {
    signals::leave_alone(command);
    let child = command.spawn().map_err(|error| Failure::Start {
        program: command.get_program().into(),
        error,
    })?;
    let recipient = signals::Recipient::new(&child);
    Ok(Running { child, recipient })
}

impl Running {
    /// Waits for its end, and does something every now and then.
    pub(crate) fn wait_and(
        mut self,
        every: Duration,
        mut glance: impl FnMut(),
    ) -> Result<Finished, Failure> {
        while self.child.try_wait().map_err(Failure::Wait)?.is_none() {
            std::thread::sleep(every);
            glance();
        }
        self.wait()
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Result<Finished, Failure> {
        let Running {
            mut child,
            recipient,
        } = self;
        // Until it is reaped, what is left of the process still has its name and its number.
        wait_without_reaping(&child);
        let name = fs::read(format!("/proc/{}/comm", child.id())).unwrap_or_default();
        drop(recipient);
        let status = child.wait().map_err(Failure::Wait)?;
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
    /// Whether the process that ended was, as far as one can tell, one that ran `program`: not a shell around it.
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

/// Ends this process as another one ended: with its status, or by its signal. That program had its chance to dump
/// core; we do not want another one, of ourselves.
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
