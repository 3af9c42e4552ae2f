//! `std::fs`, recorded.
//!
//! Names and signatures are those of the standard library. A replay opens no file: what was read comes from the trace,
//! errors included, and what the program writes is compared with what it wrote in the recording.
//!
//! ```
//! use reenact::fs;
//!
//! # fn main() -> std::io::Result<()> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("orders.csv");
//! fs::write(&path, "7,widget\n")?;
//! let orders = fs::read_to_string(&path)?;
//! assert_eq!(orders.lines().count(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! With `REENACT_REALLY_WRITE`, a replay also performs the program's changes: it opens files that are opened for
//! writing, writes them, creates, removes and renames. Whether that succeeds makes no difference to the program, which
//! gets the recorded results.
//!
//! Handles do not expose their file descriptor: what is done with that would not be recorded.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: every answer of the system: what is in a file, how much of it a read returns,
//!   whether a file exists, in which order a directory is listed, whether a disk is full.
//! - *What is recorded*: every answer. Bytes that were read are stored, identical bytes once; of bytes that are
//!   written, their length and a hash, and how many were accepted.
//! - *What replay waits for*: only the activity's own order. The order in which activities wrote a file shows in what
//!   was read.
//! - *What exploration branches on*: nothing; the answers are those of the recording or of the system.
//! - *What is dependent*: nothing that the program can observe other than through the answers.

mod directory;
mod file;
mod metadata;
mod options;
mod paths;

pub use std::fs::{FileTimes, Permissions};

pub use self::{
    directory::{
        DirBuilder, DirEntry, ReadDir, create_dir, create_dir_all, read_dir, remove_dir,
        remove_dir_all,
    },
    file::File,
    metadata::{FileType, Metadata},
    options::OpenOptions,
    paths::{
        canonicalize, copy, exists, hard_link, metadata, read, read_link, read_to_string,
        remove_file, rename, set_permissions, symlink_metadata, write,
    },
};

use std::{io, path::Path};

use reenact_engine::Op;

use crate::outside::{Handle, HandleName, SystemCall};

/// Returns a path as bytes, for comparison in a replay.
fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Opens what is at a path. A replay compares `parts`.
#[track_caller]
fn open<T>(
    op: Op,
    path: &Path,
    parts: &[&[u8]],
    open: impl Fn() -> io::Result<T>,
) -> io::Result<Handle<T>> {
    let name = HandleName::new("file", path.display());
    let mut inner = None;
    SystemCall::new(op, &name).with_parts(parts).done(|| {
        inner = Some(open()?);
        Ok(())
    })?;
    Ok(Handle::new(inner, name))
}
