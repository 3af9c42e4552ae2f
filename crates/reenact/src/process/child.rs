//! `Child`.

use std::{
    fmt, io, mem,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Output},
};

use super::{ChildStderr, ChildStdin, ChildStdout};
use crate::outside::{Handle, HandleName, SystemCall, blocking, nothing_real, ops};

/// A started program: [`std::process::Child`], recorded.
pub struct Child {
    /// The pipe to its standard input, if there is one.
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output, if there is one.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error, if there is one.
    pub stderr: Option<ChildStderr>,
    handle: Handle<std::process::Child>,
    id: u32,
}

impl Child {
    pub(super) fn new(
        mut inner: Option<std::process::Child>,
        id: u32,
        name: &HandleName,
        [stdin, stdout, stderr]: [bool; 3],
    ) -> Child {
        let mut raw = inner.as_mut();
        Child {
            stdin: stdin.then(|| {
                let pipe = raw.as_mut().and_then(|child| child.stdin.take());
                ChildStdin::new(pipe, name)
            }),
            stdout: stdout.then(|| {
                let pipe = raw.as_mut().and_then(|child| child.stdout.take());
                ChildStdout::new(pipe, name)
            }),
            stderr: stderr.then(|| {
                let pipe = raw.as_mut().and_then(|child| child.stderr.take());
                ChildStderr::new(pipe, name)
            }),
            handle: Handle::new(inner, name.clone()),
            id,
        }
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Kills the process.
    #[track_caller]
    pub fn kill(&mut self) -> io::Result<()> {
        let (call, mut child) = self.handle.call_mut(ops::KILL);
        call.done(|| child.get()?.kill())
    }

    /// Closes its input and waits for it to exit.
    #[track_caller]
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        let (call, mut child) = self.handle.call_mut(ops::WAIT_FOR_PROCESS);
        let word = call.number(|| blocking(|| child.get()?.wait()).map(word_of))?;
        Ok(status_of(word))
    }

    /// Returns its exit status, if it has exited.
    #[track_caller]
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let (call, mut child) = self.handle.call_mut(ops::HAS_ENDED);
        let answer = call.number(|| {
            let status = child.get()?.try_wait()?;
            Ok(status.map_or(0, |status| word_of(status) + 1))
        })?;
        Ok(answer.checked_sub(1).map(status_of))
    }

    /// Closes its input, waits for it to exit, and collects what it prints into pipes.
    #[track_caller]
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let mut child = self.handle.take_real().map(|mut child| {
            child.stdout = self.stdout.take().and_then(ChildStdout::into_inner);
            child.stderr = self.stderr.take().and_then(ChildStderr::into_inner);
            child
        });
        let call = self.handle.call(ops::WAIT_FOR_PROCESS);
        output_of(self.handle.name(), call, || {
            let child = child.take().ok_or_else(nothing_real)?;
            blocking(|| child.wait_with_output())
        })
    }
}

/// Runs a program to its end: its exit status answers `call`. Its outputs are answers of their own, so that they
/// are written to the trace unchanged.
#[track_caller]
pub(super) fn output_of(
    name: &HandleName,
    call: SystemCall<'_>,
    mut run: impl FnMut() -> io::Result<Output>,
) -> io::Result<Output> {
    let (mut stdout, mut stderr) = Default::default();
    let word = call.number(|| {
        let output = run()?;
        (stdout, stderr) = (output.stdout, output.stderr);
        Ok(word_of(output.status))
    })?;
    let printed = |which, bytes: &mut Vec<u8>| {
        SystemCall::on(ops::OUTPUT, name)
            .with(which)
            .bytes(|| Ok(mem::take(bytes)))
    };
    Ok(Output {
        status: status_of(word),
        stdout: printed(b"stdout", &mut stdout)?,
        stderr: printed(b"stderr", &mut stderr)?,
    })
}

/// Returns an exit status in the system's encoding.
pub(super) fn word_of(status: ExitStatus) -> u64 {
    status.into_raw().cast_unsigned().into()
}

pub(super) fn status_of(word: u64) -> ExitStatus {
    ExitStatus::from_raw((word as u32).cast_signed())
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("stdin", &self.stdin)
            .field("stdout", &self.stdout)
            .field("stderr", &self.stderr)
            .finish_non_exhaustive()
    }
}
