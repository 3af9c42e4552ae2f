//! Machines on which the monotonic clock shows another time: time namespaces of this one.

use std::{ffi::CStr, io, os::unix::process::CommandExt, process::Command};

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherMachine {
    /// This one.
    Same,
    /// One that was started an hour earlier; or this one, an hour later.
    StartedEarlier,
    /// One that was started later.
    StartedLater,
}

impl OtherMachine {
    pub(crate) const ALL: [OtherMachine; 3] = [
        OtherMachine::Same,
        OtherMachine::StartedEarlier,
        OtherMachine::StartedLater,
    ];

    /// Arranges that the command runs on this machine. Where the system does not allow that, as in many containers, it
    /// runs on the same.
    pub(crate) fn run(self, command: &mut Command) {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: A place for the time.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let offset = match self {
            OtherMachine::Same => return,
            OtherMachine::StartedEarlier => 3600,
            OtherMachine::StartedLater => -now.tv_sec / 2,
        };
        let offsets = format!("monotonic {offset} 0\nboottime {offset} 0\n");
        // SAFETY: Only system calls are made between fork and exec.
        unsafe {
            command.pre_exec(move || {
                let _ = enter_time_namespace(offsets.as_bytes());
                Ok(())
            })
        };
    }
}

fn enter_time_namespace(offsets: &[u8]) -> io::Result<()> {
    const CLONE_NEWTIME: libc::c_int = 0x80;
    let check = |result: libc::c_int| match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    };
    let open = |path: &CStr, flags| {
        // SAFETY: The path is a C string.
        check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) })
    };
    // SAFETY: System calls with numbers, and with a buffer of this length.
    unsafe {
        if check(libc::unshare(CLONE_NEWTIME)).is_err() {
            check(libc::unshare(libc::CLONE_NEWUSER | CLONE_NEWTIME))?;
        }
        let file = open(c"/proc/self/timens_offsets", libc::O_WRONLY)?;
        check(libc::write(file, offsets.as_ptr().cast(), offsets.len()) as libc::c_int)?;
        let namespace = open(c"/proc/self/ns/time_for_children", libc::O_RDONLY)?;
        check(libc::setns(namespace, CLONE_NEWTIME))?;
    }
    Ok(())
}
