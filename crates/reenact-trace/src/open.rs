//! Opening files that somebody else may have put there.
//!
//! A trace may come from a stranger, and lie in a directory that others write to. Opening a FIFO waits for a writer,
//! reading a device may never end, and a symbolic link makes another file of one that was checked before.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

/// Opens a file to be read, following symbolic links. Anything but a regular file is refused, without waiting.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true), 0)
}

/// Opens a file to be read that belongs to one that has been opened before. A symbolic link is refused too.
pub(crate) fn reopen(path: &Path) -> io::Result<File> {
    regular(path, OpenOptions::new().read(true), libc::O_NOFOLLOW)
}

/// Opens a file again that is open to be read, to append to it. If another file has this path by now, that is an error.
pub(crate) fn reopen_to_append(path: &Path, known: &File) -> io::Result<File> {
    // The path may have been that of a link from the beginning.
    let path = std::fs::canonicalize(path)?;
    let file = regular(&path, OpenOptions::new().append(true), libc::O_NOFOLLOW)?;
    let [now, before] = [file.metadata()?, known.metadata()?];
    match (now.dev(), now.ino()) == (before.dev(), before.ino()) {
        true => Ok(file),
        false => Err(io::Error::other("another file has taken its place")),
    }
}

/// Creates a file, readable by its owner only, or truncates it. A symbolic link is refused, and a FIFO not waited for.
pub fn create_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::empty())?;
    Ok(file)
}

fn regular(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    // Without O_NONBLOCK, opening a FIFO waits. For a regular file, the flag has no meaning.
    let file = options
        .custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR)),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe, a socket or a device, not a file",
        )),
    }
}
