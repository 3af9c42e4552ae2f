//! The workloads, compiled against Reenact. What differs from [`crate::on_std`] is the import.

use reenact::{sync, thread};

/// Clocks as a program reads them.
#[allow(unsafe_code, reason = "the C library is asked as it is")]
mod time {
    /// Reads a clock.
    #[inline]
    pub(super) fn read(clock: libc::clockid_t, time: &mut libc::timespec) -> bool {
        // SAFETY: A place for the time.
        unsafe { libc::clock_gettime(clock, time) == 0 }
    }
}

#[allow(
    clippy::duplicate_mod,
    reason = "compiling the same source twice is the comparison"
)]
#[path = "workloads/table.rs"]
mod table;

pub use table::{WORKLOADS, warm_up};
