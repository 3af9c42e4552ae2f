//! The C library's `syscall`. The standard library and others use it to wait until a word changes.

use std::ffi::{c_int, c_long};

use libc::timespec;

#[cfg(feature = "explore")]
use super::threads;
use super::{
    clock::{MONOTONIC, REALTIME},
    real,
    waits::{self, Again, Until},
};

/// The C library's `syscall`, captured.
///
/// # Safety
///
/// As for the C library's `syscall`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    let call = |fourth| {
        // SAFETY: The caller fulfils the conditions of the system call; `fourth` is what it passed, or refers to a
        // time that exists during the call where it passed a reference to one.
        unsafe { real::syscall([number, first, second, third, fourth, fifth, sixth]) }
    };
    if number != libc::SYS_futex {
        #[cfg(feature = "explore")]
        threads::note_system_call(number);
        return call(fourth);
    }
    let flags = second as c_int;
    let on_clock = match flags & libc::FUTEX_CLOCK_REALTIME {
        0 => MONOTONIC,
        _ => REALTIME,
    };
    let until = match flags & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
        libc::FUTEX_WAIT => Until::After,
        libc::FUTEX_WAIT_BITSET | FUTEX_LOCK_PI2 | libc::FUTEX_WAIT_REQUEUE_PI => {
            Until::At(on_clock)
        }
        libc::FUTEX_LOCK_PI => Until::At(REALTIME),
        _ => return call(fourth),
    };
    #[cfg(feature = "explore")]
    // Without a time limit: otherwise the clock decides.
    if fourth == 0
        && matches!(
            flags & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME),
            libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET
        )
        // SAFETY: The caller waits for this word, so it is valid.
        && unsafe { threads::wait_in_turn(first, third as u32) }
    {
        return 0;
    }
    // SAFETY: The caller guarantees that the fourth argument of these calls is null or refers to a time.
    unsafe {
        waits::timed(
            until,
            // A word that changes in between is another one when the wait begins again.
            Again::Yes,
            fourth as *const timespec,
            |time| call(time as c_long),
            |&result| result < 0 && real::errno() == libc::ETIMEDOUT,
        )
    }
}

/// Takes a lock, until a time of the clock that the flag says.
const FUTEX_LOCK_PI2: c_int = 13;
