//! The output of executions that is not shown.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::fs::FileExt},
};

/// Maximum number of bytes of output that are read.
const MOST: usize = 1 << 16;

/// Creates an anonymous file in append mode.
pub(super) fn file() -> io::Result<File> {
    let file = rustix::fs::memfd_create("reenact-output", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND)?;
    Ok(File::from(file))
}

/// Redirects the calling process's standard output to `file`, or discards it; discards standard error.
pub(super) fn print_to(file: Option<&File>) {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // SAFETY: `dup2` only replaces descriptors of this process, and both sources are open.
        unsafe {
            libc::dup2(file.unwrap_or(&nowhere).as_raw_fd(), 1);
            libc::dup2(nowhere.as_raw_fd(), 2);
        }
    }
}

/// Reads the output.
pub(super) fn read(file: &File) -> String {
    let mut printed = vec![0; MOST];
    let length = file.read_at(&mut printed, 0).unwrap_or(0);
    String::from_utf8_lossy(&printed[..length]).into_owned()
}
