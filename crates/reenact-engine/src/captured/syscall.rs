//! The C library's `syscall`. The standard library and others use it to wait until a word changes, and some libraries
//! to ask for random bytes or the time.

use std::ffi::{c_int, c_long, c_void};

#[cfg(target_arch = "x86_64")]
use libc::time_t;
use libc::{clockid_t, timespec, timeval};

#[cfg(feature = "explore")]
use super::threads;
use super::{
    clock::{self, MONOTONIC, REALTIME},
    random, real,
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
    // SAFETY: The caller fulfils the conditions of these calls, which are those of the functions.
    unsafe {
        match number {
            libc::SYS_futex => {}
            libc::SYS_getrandom => {
                return random::getrandom(first as *mut c_void, second as usize, third as u32)
                    as c_long;
            }
            libc::SYS_clock_gettime => {
                return clock::clock_gettime(first as clockid_t, second as *mut timespec).into();
            }
            libc::SYS_gettimeofday if second == 0 => {
                return clock::gettimeofday(first as *mut timeval, std::ptr::null_mut()).into();
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_time => return clock::time(first as *mut time_t),
            _ => return call(fourth),
        }
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
