//! The few system calls that std lacks. They are declared by hand because a dependency would have to be built first.

use std::{
    ffi::{c_int, c_ulong},
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitStatus},
};

pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGTERM: i32 = 15;

const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
const EINTR: i32 = 4;

unsafe extern "C" {
    fn prctl(option: c_int, ...) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
}

/// Makes descendants whose parents have ended children of this process from now on.
pub(crate) fn adopt_orphans() {
    // SAFETY: This option takes one integer, and accesses no memory. If it fails, orphans are not found.
    unsafe { prctl(PR_SET_CHILD_SUBREAPER, 1 as c_ulong) };
}

/// Makes the process that `command` starts receive SIGKILL when the calling thread ends.
pub(crate) fn dies_with_this(command: &mut Command) -> &mut Command {
    // SAFETY: Between fork and exec the closure makes a single system call, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            prctl(PR_SET_PDEATHSIG, SIGKILL as c_ulong);
            Ok(())
        })
    }
}

/// Sends a signal to a process, if it still exists.
pub(crate) fn send(process: u32, signal: i32) {
    // SAFETY: `kill` takes two integers, and accesses no memory of this process.
    unsafe { kill(process as c_int, signal) };
}

/// Waits until any child ends. Returns `None` if there are no children.
pub(crate) fn wait_for_any() -> Option<(u32, ExitStatus)> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid location to write the status to.
        let process = unsafe { waitpid(-1, &mut status, 0) };
        if process > 0 {
            return Some((process as u32, ExitStatus::from_raw(status)));
        }
        if io::Error::last_os_error().raw_os_error() != Some(EINTR) {
            return None;
        }
    }
}
