//! Which process this is, and what it was told when it began.

use std::{
    ffi::{CStr, c_char, c_int},
    sync::atomic::{AtomicI32, Ordering::Relaxed},
};

use libc::pid_t;

use super::{is_captured, real};
use crate::{Question, activity::with_controlled, mode, withheld};

/// The variable of the environment that has the number of the recorded process: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_PID";

/// Under which number the recorded process knew itself; 0 where this is no replay.
static RECORDED: AtomicI32 = AtomicI32::new(0);

/// This process plays one that had this number.
pub(crate) fn play(process: pid_t) {
    RECORDED.store(process, Relaxed);
}

/// The C library's, captured.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn getpid() -> pid_t {
    match RECORDED.load(Relaxed) {
        recorded if recorded != 0 && is_captured() => recorded,
        _ => real::getpid(),
    }
}

/// The C library's. In a replay, a program that signals the process that it takes itself for means this one, not whichever
/// has that number now.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    let process = match RECORDED.load(Relaxed) {
        recorded if recorded > 0 && recorded == process => real::getpid(),
        recorded if recorded > 0 && -recorded == process => -real::getpid(),
        _ => process,
    };
    real::kill(process, signal)
}

/// The C library's. The environment is part of a trace as a whole, but for what was withheld: a replay that asks for that
/// cannot go on.
///
/// # Safety
///
/// `name` is a string.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    if mode::is_controlled() && !name.is_null() && is_captured() {
        // SAFETY: The caller's.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        if withheld::is_missing("env", &name) {
            with_controlled(|me| {
                let missing = format!("env:{name}");
                me.controller
                    .outside(&me.activity, Question::Missing(&missing));
            });
        }
    }
    // SAFETY: The caller's.
    unsafe { real::getenv(name) }
}
