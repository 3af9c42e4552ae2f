//! Standard input, which is the same in all executions of an exploration.

use std::ffi::{c_int, c_void};

use super::real;
use crate::explore;

/// The C library's `read`, captured.
///
/// # Safety
///
/// As for the C library's `read`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn read(file: c_int, buffer: *mut c_void, count: usize) -> isize {
    if file == libc::STDIN_FILENO {
        // SAFETY: The caller fulfils the conditions of the C library's function.
        if let Some(read) = unsafe { explore::read_input(buffer, count) } {
            return read;
        }
    }
    // SAFETY: The caller fulfils the conditions of the C library's function.
    unsafe { real::read(file, buffer, count) }
}
