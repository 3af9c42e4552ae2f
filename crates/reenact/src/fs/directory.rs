//! Directories.

use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{DirBuilderExt, DirEntryExt},
    },
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{FileType, Metadata, bytes_of, symlink_metadata};
use crate::outside::{Handle, HandleName, RecordedError, SystemCall, ops};

/// Creates a directory.
#[track_caller]
pub fn create_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    DirBuilder::new().create(path)
}

/// Creates a directory and its missing parents.
#[track_caller]
pub fn create_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// Removes an empty directory.
#[track_caller]
pub fn remove_dir<P: AsRef<Path>>(path: P) -> io::Result<()> {
    remove(path.as_ref(), b"", |path| std::fs::remove_dir(path))
}

/// Removes a directory and everything in it.
#[track_caller]
pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
    remove(path.as_ref(), b"all", |path| std::fs::remove_dir_all(path))
}

#[track_caller]
fn remove(path: &Path, how: &[u8], remove: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    SystemCall::new(ops::REMOVE_DIR, &path.display())
        .with_parts(&[bytes_of(path), how])
        .change(|| remove(path))
}

/// Options for creating a directory: [`std::fs::DirBuilder`].
pub struct DirBuilder {
    raw: std::fs::DirBuilder,
    recursive: bool,
}

impl DirBuilder {
    /// Returns the default options.
    #[allow(clippy::new_without_default, reason = "as in std")]
    #[must_use]
    pub fn new() -> DirBuilder {
        DirBuilder {
            raw: std::fs::DirBuilder::new(),
            recursive: false,
        }
    }

    /// Creates missing parents, too.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.raw.recursive(recursive);
        self.recursive = recursive;
        self
    }

    /// Creates the directory.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        let path = path.as_ref();
        SystemCall::new(ops::CREATE_DIR, &path.display())
            .with_parts(&[bytes_of(path), &[self.recursive.into()]])
            .change(|| self.raw.create(path))
    }
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, mode: u32) -> &mut Self {
        self.raw.mode(mode);
        self
    }
}

impl fmt::Debug for DirBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// Lists a directory.
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let name = HandleName::new("file", path.display());
    let mut inner = None;
    SystemCall::new(ops::READ_DIR, &name)
        .with(bytes_of(path))
        .done(|| {
            inner = Some(std::fs::read_dir(path)?);
            Ok(())
        })?;
    Ok(ReadDir {
        handle: Handle::new(inner, name),
        path: path.into(),
    })
}

/// The entries of a directory, in the order in which the system returns them: [`std::fs::ReadDir`].
pub struct ReadDir {
    handle: Handle<std::fs::ReadDir>,
    path: PathBuf,
}

/// The recorded part of an entry.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: Vec<u8>,
    file_type: Result<FileType, RecordedError>,
    ino: u64,
}

impl Entry {
    fn of(raw: &std::fs::DirEntry) -> Entry {
        Entry {
            name: raw.file_name().into_vec(),
            file_type: raw
                .file_type()
                .map(FileType::of)
                .map_err(|error| RecordedError::of(&error)),
            ino: raw.ino(),
        }
    }
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    #[track_caller]
    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        let (call, mut entries) = self.handle.call_mut(ops::NEXT_ENTRY);
        let entry = call.value(|| {
            let next = entries.get()?.next().transpose()?;
            Ok(next.as_ref().map(Entry::of))
        });
        let entry = entry.transpose()?;
        Some(entry.map(|entry| DirEntry {
            path: self.path.join(OsStr::from_bytes(&entry.name)),
            entry,
        }))
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadDir").field(&self.path).finish()
    }
}

/// An entry of a directory: [`std::fs::DirEntry`].
pub struct DirEntry {
    path: PathBuf,
    entry: Entry,
}

impl DirEntry {
    /// Returns its path: that of the directory joined with its name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Returns its name.
    #[must_use]
    pub fn file_name(&self) -> OsString {
        OsStr::from_bytes(&self.entry.name).to_owned()
    }

    /// Returns its metadata. Symbolic links are not followed.
    #[track_caller]
    pub fn metadata(&self) -> io::Result<Metadata> {
        symlink_metadata(&self.path)
    }

    /// Returns its file type. Symbolic links are not followed.
    pub fn file_type(&self) -> io::Result<FileType> {
        self.entry
            .file_type
            .as_ref()
            .copied()
            .map_err(|error| error.clone().into())
    }
}

impl DirEntryExt for DirEntry {
    fn ino(&self) -> u64 {
        self.entry.ino
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DirEntry").field(&self.path).finish()
    }
}
