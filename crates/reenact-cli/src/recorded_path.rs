//! A recorded run as a path through the multiverse: it is replayed once, with a log of its operations, which the
//! program then follows when it explores itself.

use std::{ffi::OsString, path::Path, process::Command};

use reenact_trace::Exit;
use tempfile::TempDir;

use crate::{
    error::Error,
    replay::{Plan, ProgramOutput, ReplayOptions},
    report, signals,
    trust::Consent,
};

/// A recorded run that has been replayed.
pub(crate) struct RecordedPath<'a> {
    file: &'a Path,
    plan: Plan,
    scratch: TempDir,
}

/// The result of replaying a recorded run.
pub(crate) enum Replayed<'a> {
    RecordedPath(Box<RecordedPath<'a>>),
    Interrupted(Exit),
}

impl<'a> RecordedPath<'a> {
    /// Replays a recorded run.
    pub(crate) fn replay(
        file: &'a Path,
        force: bool,
        command: &[OsString],
        is_trusted: bool,
    ) -> Result<Replayed<'a>, Error> {
        let plan = Plan::new(&ReplayOptions {
            trace: file,
            force,
            command,
            consent: Consent {
                is_named: !command.is_empty(),
                is_trusted,
            },
            really_write: false,
        })?;
        plan.notes().iter().for_each(report::note);
        let scratch = TempDir::new().map_err(Error::Scratch)?;
        let recording = RecordedPath {
            file,
            plan,
            scratch,
        };
        let (output, log) = (ProgramOutput::Hidden.stdio(), recording.log());
        let outcome = (recording.plan).run(output, recording.scratch.path(), Some(&log))?;
        if let Some(signal) = signals::received() {
            return Ok(Replayed::Interrupted(Exit::Signal(signal)));
        }
        match outcome.has_followed() {
            true => Ok(Replayed::RecordedPath(Box::new(recording))),
            false => Err(Error::Unfit(format!("it cannot be replayed: {outcome}"))),
        }
    }

    fn log(&self) -> std::path::PathBuf {
        self.scratch.path().join("log")
    }

    /// Returns the options, one per line, that make the program follow the recorded run.
    pub(crate) fn request(&self) -> Result<String, Error> {
        let file = std::path::absolute(self.file).map_err(Error::Scratch)?;
        let mut lines = format!(
            "path={}\nrecording={}\n",
            self.log().display(),
            file.display()
        );
        if let Some(Exit::Status(status)) = self.plan.exit() {
            lines += &format!("exit={status}\n");
        }
        Ok(lines)
    }

    /// Returns the command of the recorded run. A test binary must run its tests one after the other: with several
    /// threads, its main thread takes part in operations that are not recorded.
    pub(crate) fn command(&self) -> Result<Command, Error> {
        let mut command = self.plan.command()?;
        command.env("RUST_TEST_THREADS", "1");
        Ok(command)
    }
}
