//! The few system calls that std lacks. They are declared by hand because a dependency would have to be built first.

use std::{
    ffi::{c_int, c_long, c_ulong},
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitStatus},
    time::Duration,
};

pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGTERM: i32 = 15;

const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
const EINTR: i32 = 4;
const RUSAGE_CHILDREN: c_int = -1;

/// The C library's `struct rusage`, of which only the times are read.
#[repr(C)]
struct ResourceUsage {
    /// Seconds and microseconds in the program.
    user: [c_long; 2],
    /// Seconds and microseconds in the kernel for it.
    system: [c_long; 2],
    others: [c_long; 14],
}

unsafe extern "C" {
    fn prctl(option: c_int, ...) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn getrusage(who: c_int, usage: *mut ResourceUsage) -> c_int;
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

/// Returns the processor time of all children that have ended, and of their descendants that they have waited for.
pub(crate) fn time_of_children() -> Duration {
    let mut usage = ResourceUsage {
        user: [0; 2],
        system: [0; 2],
        others: [0; 14],
    };
    // SAFETY: `usage` is valid for writes and has the layout of the C library's structure: two `timeval`s, which are
    // two `long`s each, and fourteen `long`s. If the call fails, the zeros stay.
    unsafe { getrusage(RUSAGE_CHILDREN, &mut usage) };
    let time = |[seconds, microseconds]: [c_long; 2]| {
        Duration::from_secs(seconds as u64) + Duration::from_micros(microseconds as u64)
    };
    time(usage.user) + time(usage.system)
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
