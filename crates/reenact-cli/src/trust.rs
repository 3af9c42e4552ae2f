//! Decides whether the program of a recording may be started.
//!
//! A recording says which program it is of, with which arguments, and in which directory. It may come from a stranger. So
//! a program is started only if the user has named it on the command line, or has confirmed it (`--trust`, or an answer at
//! the terminal), or if it is plainly the user's own: below the current directory, the very file that was recorded, and
//! nobody else's to change. Every command that starts a recorded program comes here.

use std::{
    ffi::OsString,
    fs::{self, Metadata},
    io::{self, IsTerminal, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use reenact_trace::{Program, identify_file, open_regular, printable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{error::Error, report, screen, signals};

/// What the user has said about the program of a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Consent {
    /// The program is named on the command line.
    pub(crate) is_named: bool,
    /// `--trust` is given.
    pub(crate) is_trusted: bool,
}

/// An executable that has been read.
pub(crate) struct Executable {
    /// As it was given or recorded, absolute.
    shown: PathBuf,
    /// Its path without symbolic links.
    real: PathBuf,
    /// Its [`identify_file`].
    pub(crate) build_id: u64,
    identity: Identity,
}

/// By which it is noticed that a file was changed or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    owner: u32,
    mode: u32,
}

impl From<Metadata> for Identity {
    fn from(metadata: Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            number: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            owner: metadata.uid(),
            mode: metadata.mode(),
        }
    }
}

/// Why a program has to be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    Elsewhere,
    Everywhere,
    UnknownBuild,
    OtherBuild,
    Foreign,
    Writable,
}

impl Doubt {
    fn text(self) -> &'static str {
        match self {
            Doubt::Elsewhere => "it is not below the current directory",
            Doubt::Everywhere => "everything is below the current directory, which is the root",
            Doubt::UnknownBuild => "the recording does not say which build it is of",
            Doubt::OtherBuild => "it is not the build that was recorded",
            Doubt::Foreign => "it belongs to another user",
            Doubt::Writable => "every user can change it",
        }
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl Executable {
    /// Reads the executable at this absolute path.
    pub(crate) fn read(path: &Path) -> io::Result<Executable> {
        let real = fs::canonicalize(path)?;
        let file = open_regular(&real)?;
        Ok(Executable {
            shown: path.to_owned(),
            identity: file.metadata()?.into(),
            build_id: identify_file(&file)?,
            real,
        })
    }

    /// The path for people.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the path to start it by, if it is still the file that was read. Between this and the start, the file
    /// could still be replaced, by whoever can write to its directory.
    pub(crate) fn path(&self) -> Result<&Path, Error> {
        let now = fs::symlink_metadata(&self.real).map(Identity::from);
        match now.is_ok_and(|now| now == self.identity) {
            true => Ok(&self.real),
            false => Err(Error::Replaced {
                executable: self.shown.clone(),
            }),
        }
    }

    /// Returns why it is not plainly the user's own program, if it is not.
    fn doubt(&self, recorded: &Program, directory: &Path) -> Option<Doubt> {
        let Identity { owner, mode, .. } = self.identity;
        let is_ours = owner == rustix::process::geteuid().as_raw() || owner == 0;
        if !self.real.starts_with(directory) {
            Some(Doubt::Elsewhere)
        } else if directory.parent().is_none() {
            Some(Doubt::Everywhere)
        } else if recorded.build_id == 0 {
            Some(Doubt::UnknownBuild)
        } else if recorded.build_id != self.build_id {
            Some(Doubt::OtherBuild)
        } else if !is_ours {
            Some(Doubt::Foreign)
        } else if mode & 0o002 != 0 {
            Some(Doubt::Writable)
        } else {
            None
        }
    }
}

/// Returns an error unless the program may be started with these arguments, in this directory.
pub(crate) fn confirm(
    trace: &Path,
    recorded: &Program,
    executable: &Executable,
    arguments: &[OsString],
    directory: &Path,
    consent: Consent,
) -> Result<(), Error> {
    if consent.is_named || consent.is_trusted {
        return Ok(());
    }
    let current = fs::canonicalize(".").map_err(Error::Scratch)?;
    let Some(doubt) = executable.doubt(recorded, &current) else {
        return Ok(());
    };
    let words = arguments.iter().map(|word| report::quoted(Path::new(word)));
    let words = words.collect::<Vec<_>>().join(" ");
    let is_confirmed = io::stdin().is_terminal()
        && io::stderr().is_terminal()
        && ask(trace, executable, &words, directory, doubt)?;
    match is_confirmed {
        true => Ok(()),
        false => Err(Error::NotConfirmed {
            executable: executable.shown.clone(),
            arguments: words,
            directory: directory.to_owned(),
            doubt,
        }),
    }
}

/// Asks the user at the terminal.
fn ask(
    trace: &Path,
    executable: &Executable,
    words: &str,
    directory: &Path,
    doubt: Doubt,
) -> Result<bool, Error> {
    let mut out = screen::stderr();
    let mut shown = || {
        writeln!(
            out,
            "{} starts this program, and {doubt}:",
            report::quoted(trace)
        )?;
        writeln!(out, "  program    {}", report::shown(&executable.real))?;
        writeln!(out, "  arguments  {words}")?;
        writeln!(out, "  directory  {}", report::shown(directory))?;
        write!(out, "Start it? [y/N] ")?;
        out.flush()
    };
    shown().map_err(Error::Output)?;
    let answer = read_line().map_err(Error::Input)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Reads a line from standard input, a terminal. Not through a buffer: what follows is the program's.
fn read_line() -> io::Result<String> {
    /// How often to look whether a signal has arrived, which does not interrupt the wait.
    const INTERVAL: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    let input = io::stdin();
    let mut line = Vec::new();
    loop {
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        let count = rustix::io::retry_on_intr(|| poll(&mut ready, Some(&INTERVAL)))?;
        if signals::received().is_some() {
            return Ok(String::new());
        }
        if count == 0 {
            continue;
        }
        let mut byte = [0];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&input, &mut byte))?;
        if read == 0 || byte == *b"\n" {
            return Ok(printable(&String::from_utf8_lossy(&line)).into_owned());
        }
        line.extend(byte);
    }
}
