//! Where what an execution prints goes, if it is not shown.

use std::{
    fs::File,
    io,
    os::{fd::AsRawFd, unix::fs::FileExt},
};

/// Of what a program prints, no more than this is looked at.
const MOST: usize = 1 << 16;

/// A file without a name, to which is always appended.
pub(super) fn file() -> io::Result<File> {
    let file = rustix::fs::memfd_create("reenact-output", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND)?;
    Ok(File::from(file))
}

/// What the calling process prints goes there, if anywhere; what it complains of goes nowhere.
pub(super) fn print_to(file: Option<&File>) {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        // SAFETY: Descriptors of this process.
        unsafe {
            libc::dup2(file.unwrap_or(&nowhere).as_raw_fd(), 1);
            libc::dup2(nowhere.as_raw_fd(), 2);
        }
    }
}

/// What is there.
pub(super) fn read(file: &File) -> String {
    let mut printed = vec![0; MOST];
    let length = file.read_at(&mut printed, 0).unwrap_or(0);
    String::from_utf8_lossy(&printed[..length]).into_owned()
}
