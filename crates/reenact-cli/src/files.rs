//! The files of a recording: where they are, whether a process still writes them, and how they are completed.
//!
//! A recording is a trace and, until it has been completed, a live file beside it. If the recorded program has children
//! that record as well, they find its file taken and use the next free number: `bug.2.reenact`, `bug.3.reenact`.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use reenact_trace::{Trace, TraceError, live_path, recover};
use tempfile::TempDir;

use crate::{error::Error, report};

/// The path of a recording that is about to be made.
pub(crate) struct Destination {
    path: PathBuf,
    /// The other files in the directory. Traces of children from earlier recordings are among them and are not touched.
    former: HashSet<PathBuf>,
    /// Keeps the previous recording until the program has started.
    aside: TempDir,
}

impl Destination {
    /// Checks that a recording can be made at `path` before the program is started, and moves a previous recording
    /// aside.
    pub(crate) fn prepare(path: &Path) -> Result<Destination, Error> {
        let directory = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => Path::new("/"),
        };
        let refused = |error| Error::Destination {
            directory: directory.to_owned(),
            error,
        };
        if path.symlink_metadata().is_ok() {
            refuse_unless_replaceable(path)?;
        }
        let path = std::path::absolute(path).map_err(refused)?;
        let aside = tempfile::Builder::new()
            .prefix(".reenact-")
            .tempdir_in(directory)
            .map_err(refused)?;
        for name in names(&path) {
            move_if_there(&path.with_file_name(&name), &aside.path().join(&name))
                .map_err(refused)?;
        }
        // All files, because the numbers of earlier children may have gaps.
        let former = fs::read_dir(directory)
            .map_err(refused)?
            .filter_map(|entry| Some(path.with_file_name(entry.ok()?.file_name())))
            .collect();
        Ok(Destination {
            path,
            former,
            aside,
        })
    }

    /// The absolute path of the trace.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Drops the previous recording, since the program has started.
    pub(crate) fn started(self) -> RecordedFiles {
        RecordedFiles {
            path: self.path,
            former: self.former,
        }
    }

    /// Puts the previous recording back, since the program could not be started.
    pub(crate) fn restore(self) {
        for name in names(&self.path) {
            // If this fails, there is nothing better to do than to leave the files as they are.
            let _ = move_if_there(
                &self.aside.path().join(&name),
                &self.path.with_file_name(&name),
            );
        }
    }
}

/// The path of a recording that is being made or has been made.
pub(crate) struct RecordedFiles {
    path: PathBuf,
    former: HashSet<PathBuf>,
}

impl RecordedFiles {
    /// Returns the traces that were recorded here: that of the program first, then those of its children.
    pub(crate) fn traces(&self) -> Vec<PathBuf> {
        let further = siblings(&self.path)
            .take_while(|path| path.exists())
            .filter(|path| !self.former.contains(path));
        Some(self.path.clone())
            .filter(|path| path.exists())
            .into_iter()
            .chain(further)
            .collect()
    }
}

/// Returns the file names of the trace and of its live file.
fn names(path: &Path) -> [OsString; 2] {
    [path, &live_path(path)].map(|path| path.file_name().unwrap_or_default().to_owned())
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn siblings(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let path = path.to_owned();
    (2u32..).map(move |number| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{number}.reenact"));
        path.with_file_name(name)
    })
}

/// Returns an error unless the file is empty or a trace that no process writes any more.
fn refuse_unless_replaceable(path: &Path) -> Result<(), Error> {
    let taken = || Error::NotReplaceable {
        path: path.to_owned(),
    };
    let metadata = fs::metadata(path).map_err(|_| taken())?;
    if !metadata.is_file() {
        return Err(taken());
    }
    match Trace::open(path) {
        Err(TraceError::NotATrace { .. }) if metadata.len() > 0 => Err(taken()),
        Err(error @ TraceError::Io { .. }) => Err(error.into()),
        _ => refuse_while_recording(path),
    }
}

/// Merges the live file into the trace, if there is one. Returns why the merged trace could not be written, if it could
/// not; the two files together can still be read then.
pub(crate) fn complete(path: &Path) -> Result<Option<TraceError>, Error> {
    if !live_path(path).exists() {
        return Ok(None);
    }
    refuse_while_recording(path)?;
    match recover(path) {
        Ok(_) => Ok(None),
        Err(error @ (TraceError::Io { .. } | TraceError::Damaged { .. })) => Ok(Some(error)),
        Err(error) => Err(error.into()),
    }
}

/// Completes a trace, and prints a note if that was not possible.
pub(crate) fn complete_or_note(path: &Path) -> Result<(), Error> {
    if let Some(error) = complete(path)? {
        report::note(format_args!(
            "{error}; the recording stays in two files, keep {} with it",
            report::quoted(&live_path(path))
        ));
    }
    Ok(())
}

fn refuse_while_recording(path: &Path) -> Result<(), Error> {
    match recorder(path) {
        Some(pid) => Err(Error::StillRecording {
            path: path.to_owned(),
            pid,
        }),
        None => Ok(()),
    }
}

/// Returns the process that has the live file of the trace mapped, among the processes that are visible to us.
fn recorder(path: &Path) -> Option<u32> {
    let live = live_path(path).canonicalize().ok()?;
    fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .find(|pid| maps(*pid, live.as_os_str().as_bytes()).unwrap_or(false))
}

fn maps(pid: u32, path: &[u8]) -> io::Result<bool> {
    let mut lines = BufReader::new(File::open(format!("/proc/{pid}/maps"))?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if line.trim_ascii_end().ends_with(path) {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}
