//! Functions that take only a path.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use std::os::unix::ffi::{OsStrExt, OsStringExt};

use reenact_engine::Op;

use super::{File, Metadata, Permissions, bytes_of};
use crate::outside::{SystemCall, also, ops};

/// Reads a whole file.
#[track_caller]
pub fn read<P: AsRef<Path>>(path: P) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file as text.
#[track_caller]
pub fn read_to_string<P: AsRef<Path>>(path: P) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Writes `contents` as the whole content of a file.
#[track_caller]
pub fn write<P: AsRef<Path>, C: AsRef<[u8]>>(path: P, contents: C) -> io::Result<()> {
    File::create(path)?.write_all(contents.as_ref())
}

/// Returns the metadata of a file.
#[track_caller]
pub fn metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    ask_metadata(path.as_ref(), b"", |path| std::fs::metadata(path))
}

/// Returns the metadata of a file. Symbolic links are not followed.
#[track_caller]
pub fn symlink_metadata<P: AsRef<Path>>(path: P) -> io::Result<Metadata> {
    ask_metadata(path.as_ref(), b"link", |path| {
        std::fs::symlink_metadata(path)
    })
}

#[track_caller]
fn ask_metadata(
    path: &Path,
    how: &[u8],
    ask: impl Fn(&Path) -> io::Result<std::fs::Metadata>,
) -> io::Result<Metadata> {
    SystemCall::new(ops::METADATA, &path.display())
        .with_parts(&[bytes_of(path), how])
        .value(|| ask(path).map(Metadata::of))
}

/// Whether there is something at this path.
#[track_caller]
pub fn exists<P: AsRef<Path>>(path: P) -> io::Result<bool> {
    let path = path.as_ref();
    let answer = SystemCall::new(ops::METADATA, &path.display())
        .with_parts(&[bytes_of(path), b"exists"])
        .number(|| std::fs::exists(path).map(u64::from))?;
    Ok(answer != 0)
}

/// Removes a file.
#[track_caller]
pub fn remove_file<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    SystemCall::new(ops::REMOVE_FILE, &path.display())
        .with(bytes_of(path))
        .change(|| std::fs::remove_file(path))
}

/// Renames a file.
#[track_caller]
pub fn rename<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    two_paths(ops::RENAME, from, to, || {
        std::fs::rename(from, to).map(|()| 0)
    })
    .map(drop)
}

/// Copies the content and the permissions of a file.
#[track_caller]
pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    two_paths(ops::COPY, from, to, || std::fs::copy(from, to))
}

/// Creates a hard link to a file.
#[track_caller]
pub fn hard_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    let (from, to) = (original.as_ref(), link.as_ref());
    two_paths(ops::LINK, from, to, || {
        std::fs::hard_link(from, to).map(|()| 0)
    })
    .map(drop)
}

/// Performs a change that takes two paths and returns a number.
#[track_caller]
fn two_paths(
    op: Op,
    from: &Path,
    to: &Path,
    change: impl Fn() -> io::Result<u64>,
) -> io::Result<u64> {
    let number = SystemCall::new(op, &from.display())
        .with_parts(&[bytes_of(from), bytes_of(to)])
        .number(&change)?;
    also(change);
    Ok(number)
}

/// Changes the permissions of a file.
#[track_caller]
pub fn set_permissions<P: AsRef<Path>>(path: P, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref();
    let text = format!("{perm:?}");
    SystemCall::new(ops::SET_ATTRIBUTES, &path.display())
        .with_parts(&[bytes_of(path), text.as_bytes()])
        .change(|| std::fs::set_permissions(path, perm.clone()))
}

/// Returns the absolute path with all symbolic links resolved.
#[track_caller]
pub fn canonicalize<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    ask_path(ops::RESOLVE_PATH, path.as_ref(), |path| {
        std::fs::canonicalize(path)
    })
}

/// Returns the target of a symbolic link.
#[track_caller]
pub fn read_link<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    ask_path(ops::READ_LINK, path.as_ref(), |path| {
        std::fs::read_link(path)
    })
}

#[track_caller]
fn ask_path(
    op: Op,
    path: &Path,
    ask: impl Fn(&Path) -> io::Result<PathBuf>,
) -> io::Result<PathBuf> {
    let bytes = SystemCall::new(op, &path.display())
        .with(bytes_of(path))
        .value(|| ask(path).map(|path| path.as_os_str().as_bytes().to_vec()))?;
    Ok(std::ffi::OsString::from_vec(bytes).into())
}
