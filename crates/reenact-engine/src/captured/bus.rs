//! Actions for SIGBUS, which a trace has to handle itself while it is being recorded: somebody may truncate its live file.
//! What the program sets is kept, and used for every such signal that has nothing to do with the trace.

use std::ffi::c_int;

use libc::{SIGBUS, sighandler_t};
use reenact_trace::{is_bus_error_handled, set_program_bus_error_action};

use super::real;

/// The C library's `sigaction`, captured.
///
/// # Safety
///
/// As for the C library's `sigaction`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: The caller fulfils the conditions of the C library's function.
    unsafe {
        if signal != SIGBUS || !is_bus_error_handled() {
            return real::sigaction(signal, action, before);
        }
        exchange(action, before);
    }
    0
}

/// The C library's `signal`, captured. It may be called on the small alternate stack of a thread that has overflowed its
/// own, so it has next to nothing on its stack.
///
/// # Safety
///
/// As for the C library's `signal`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    if number != SIGBUS || !is_bus_error_handled() || handler == libc::SIG_ERR {
        // SAFETY: The caller fulfils the conditions of the C library's function.
        return unsafe { real::signal(number, handler) };
    }
    exchange_handler(handler)
}

/// Sets the program's action and stores the one before.
///
/// # Safety
///
/// Each is null or valid.
#[cold]
#[inline(never)]
unsafe fn exchange(action: *const libc::sigaction, before: *mut libc::sigaction) {
    // SAFETY: The caller guarantees that each is null or valid.
    unsafe {
        let known = set_program_bus_error_action(action.as_ref().copied());
        if let Some(before) = before.as_mut() {
            *before = known;
        }
    }
}

/// Sets the program's handler and returns the one before.
#[cold]
#[inline(never)]
fn exchange_handler(handler: sighandler_t) -> sighandler_t {
    // SAFETY: Zero is a valid value of each of its fields.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    set_program_bus_error_action(Some(action)).sa_sigaction
}
