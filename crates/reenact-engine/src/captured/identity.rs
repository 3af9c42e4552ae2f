//! The process id and the environment.

use std::{
    ffi::{CStr, c_char, c_int},
    sync::atomic::{AtomicI32, Ordering::Relaxed},
};

use libc::pid_t;

use super::{is_captured, real};
use crate::{
    Question,
    activity::with_controlled,
    mode::{self, Mode},
    record, withheld,
};

/// The environment variable with the id of the recorded process: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_PID";

/// The id of the recorded process; 0 if this is not a replay.
static RECORDED: AtomicI32 = AtomicI32::new(0);

/// Notes that this process replays one that had this id.
pub(crate) fn play(process: pid_t) {
    RECORDED.store(process, Relaxed);
}

/// The C library's `getpid`, captured.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn getpid() -> pid_t {
    match RECORDED.load(Relaxed) {
        recorded if recorded != 0 && is_captured() => recorded,
        _ => real::getpid(),
    }
}

/// The C library's `kill`. In a replay, a program that signals the process that it takes itself for means this one, not
/// the one that has that id now.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    let process = match RECORDED.load(Relaxed) {
        recorded if recorded > 0 && recorded == process => real::getpid(),
        recorded if recorded > 0 && -recorded == process => -real::getpid(),
        _ => process,
    };
    real::kill(process, signal)
}

/// The C library's `getenv`. A variable is recorded when the program first asks for it. Some are withheld: a replay that
/// asks for one of those cannot continue.
///
/// # Safety
///
/// `name` is a C string.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: The caller guarantees that it is a C string.
    unsafe {
        asked_for(name);
        real::getenv(name)
    }
}

/// The C library's `secure_getenv`: the same.
///
/// # Safety
///
/// `name` is a C string.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn secure_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: The caller guarantees that it is a C string.
    unsafe {
        asked_for(name);
        real::secure_getenv(name)
    }
}

/// Notes that a variable was asked for, or diverges if it was withheld.
///
/// # Safety
///
/// `name` is null or a C string.
unsafe fn asked_for(name: *const c_char) {
    let is_recorded = mode::byte() == Mode::Record as u8;
    if !(is_recorded || mode::is_controlled()) || name.is_null() || !is_captured() {
        return;
    }
    // SAFETY: The caller guarantees that it is a C string, and it is not null.
    let name = unsafe { CStr::from_ptr(name) };
    if is_recorded {
        return record::note_variable(name);
    }
    let name = name.to_string_lossy();
    if withheld::is_missing("env", &name) {
        with_controlled(|me| {
            let missing = format!("env:{name}");
            me.controller
                .outside(&me.activity, Question::Missing(&missing));
        });
    }
}
