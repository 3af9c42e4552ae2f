//! `std::fs`, recorded.
//!
//! Names and signatures are those of the standard library. In a replay no file is opened: what was read comes from the
//! trace, errors included, and what the program writes is compared with what it wrote then.
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
//! A replay that is told to really write (`REENACT_REALLY_WRITE`) also does to the world what the program does to it: it opens
//! files that are opened for writing, writes them, creates, removes and renames. Whether that works makes no difference to
//! the program, which is told what was recorded.
//!
//! A handle has no file descriptor to show: what is done with that is not seen here.
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: every answer of the system: what is in a file, how much of it a read returns, whether
//!   a file exists, in which order a directory is listed, whether a disk is full.
//! - *What is recorded*: every answer. Bytes that were read are kept, the same bytes once; of bytes that are written, their
//!   length and a hash, and how many were taken.
//! - *What replay waits for*: nothing but the activity's own order. Who wrote a file before whom shows in what was read.
//! - *What exploration branches on*: nothing; the answers stay those of the recording, or of the world.
//! - *What is dependent*: nothing that the program can see other than through the answers.

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

use std::path::Path;

/// A path as bytes, to be compared in a replay.
fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}
