//! Waiting for a child process and learning how much memory it had.
//!
//! `std` does not return what the kernel counted for a child, and the maximum over all children,
//! which needs no `wait4`, would be that of the largest one.

#![allow(unsafe_code)]

use std::process::ExitStatus;
use std::{io, mem::MaybeUninit, os::unix::process::ExitStatusExt, process::Child};

/// Waits until `child` has ended; returns its status and the most memory it had, in bytes.
///
/// On Linux the memory is at least what this process has, since a child starts as a copy of it.
pub(super) fn wait(child: Child) -> io::Result<(ExitStatus, u64)> {
    let pid = libc::pid_t::try_from(child.id()).expect("a pid is a pid_t");
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    loop {
        // SAFETY: both pointers are to locals of the right type that live across the call, and
        // `child` is ours and not yet waited for, so its pid cannot mean another process.
        let waited = unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) };
        if waited == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: `wait4` returned the pid, so it has filled in the structure.
    let usage = unsafe { usage.assume_init() };
    let kibibytes = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    Ok((ExitStatus::from_raw(status), kibibytes * 1024))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::wait;

    #[test]
    fn a_childs_status_and_memory_are_known() {
        let child = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        let (status, memory) = wait(child).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(memory > 100_000, "{memory}");
    }
}
