//! Functions that take only a path.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::{File, Metadata, Permissions, bytes_of};
use crate::outside::{Question, also, ops};

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
    Question::new(ops::METADATA, &path.display())
        .with_parts(&[bytes_of(path), how])
        .value(|| ask(path).map(Metadata::of))
}

/// Whether there is something at this path.
#[track_caller]
pub fn exists<P: AsRef<Path>>(path: P) -> io::Result<bool> {
    let path = path.as_ref();
    let answer = Question::new(ops::METADATA, &path.display())
        .with_parts(&[bytes_of(path), b"exists"])
        .number(|| std::fs::exists(path).map(u64::from))?;
    Ok(answer != 0)
}

/// Removes a file.
#[track_caller]
pub fn remove_file<P: AsRef<Path>>(path: P) -> io::Result<()> {
    let path = path.as_ref();
    Question::new(ops::REMOVE_FILE, &path.display())
        .with(bytes_of(path))
        .done(|| std::fs::remove_file(path))?;
    also(|| std::fs::remove_file(path));
    Ok(())
}

/// Renames a file.
#[track_caller]
pub fn rename<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    Question::new(ops::RENAME, &from.display())
        .with_parts(&[bytes_of(from), bytes_of(to)])
        .done(|| std::fs::rename(from, to))?;
    also(|| std::fs::rename(from, to));
    Ok(())
}

/// Copies the content and the permissions of a file.
#[track_caller]
pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<u64> {
    let (from, to) = (from.as_ref(), to.as_ref());
    let length = Question::new(ops::COPY, &from.display())
        .with_parts(&[bytes_of(from), bytes_of(to)])
        .number(|| std::fs::copy(from, to))?;
    also(|| std::fs::copy(from, to));
    Ok(length)
}

/// Creates a hard link to a file.
#[track_caller]
pub fn hard_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    Question::new(ops::LINK, &original.display())
        .with_parts(&[bytes_of(original), bytes_of(link)])
        .done(|| std::fs::hard_link(original, link))?;
    also(|| std::fs::hard_link(original, link));
    Ok(())
}

/// Changes the permissions of a file.
#[track_caller]
pub fn set_permissions<P: AsRef<Path>>(path: P, perm: Permissions) -> io::Result<()> {
    let path = path.as_ref();
    let text = format!("{perm:?}");
    let set = || std::fs::set_permissions(path, perm.clone());
    Question::new(ops::SET_ATTRIBUTES, &path.display())
        .with_parts(&[bytes_of(path), text.as_bytes()])
        .done(set)?;
    also(set);
    Ok(())
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
    op: reenact_engine::Op,
    path: &Path,
    ask: impl Fn(&Path) -> io::Result<PathBuf>,
) -> io::Result<PathBuf> {
    let bytes = Question::new(op, &path.display())
        .with(bytes_of(path))
        .value(|| ask(path).map(|path| path.as_os_str().as_bytes().to_vec()))?;
    Ok(std::ffi::OsString::from_vec(bytes).into())
}
