//! Random bytes.

use std::ffi::c_int;

use libc::c_void;

use super::{is_captured, real};
use crate::{
    Captured, Heard, Question,
    activity::with_controlled,
    mode::{self, Mode},
    record,
};

/// The C library's `getrandom`, captured.
///
/// # Safety
///
/// `buffer` is valid for writes of `length` bytes.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize {
    // Libraries ask for zero bytes to see whether the call is available, once per process, on whichever thread comes
    // first.
    if mode::byte() == Mode::Off as u8 || length == 0 || !is_captured() {
        // SAFETY: The caller guarantees that the buffer has room for `length` bytes.
        return unsafe { real::getrandom(buffer, length, flags) };
    }
    // SAFETY: The caller guarantees that the buffer has room for `length` bytes.
    if let Some(count) = unsafe { played(buffer, length) } {
        return count;
    }
    // SAFETY: The caller guarantees that the buffer has room for `length` bytes.
    let count = unsafe { real::getrandom(buffer, length, flags) };
    if mode::byte() == Mode::Record as u8 {
        let there = usize::try_from(count).unwrap_or(0);
        // SAFETY: This many bytes have been written there; none if the call failed.
        record::random(
            unsafe { std::slice::from_raw_parts(buffer.cast(), there) },
            Captured::Random.op(),
        );
    }
    count
}

/// Copies the recorded bytes in a replay, and returns how many.
unsafe fn played(buffer: *mut c_void, length: usize) -> Option<isize> {
    if !mode::is_controlled() {
        return None;
    }
    let recalled = with_controlled(|me| {
        me.controller
            .outside(&me.activity, Question::Library(Captured::Random))
    });
    let Heard::Bytes(bytes) = recalled.flatten()? else {
        return None;
    };
    if bytes.is_empty() {
        real::set_errno(libc::EAGAIN);
        return Some(-1);
    }
    let count = bytes.len().min(length);
    // SAFETY: The caller guarantees that the buffer has room for `length` bytes, and `count` is at most that.
    unsafe {
        buffer
            .cast::<u8>()
            .copy_from_nonoverlapping(bytes.as_ptr(), count)
    };
    Some(count as isize)
}

/// The C library's `getentropy`, captured.
///
/// # Safety
///
/// `buffer` is valid for writes of `length` bytes.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn getentropy(buffer: *mut c_void, length: usize) -> c_int {
    if length > 256 {
        real::set_errno(libc::EIO);
        return -1;
    }
    let mut done = 0;
    while done < length {
        // SAFETY: The rest of the caller's buffer.
        let count = unsafe { getrandom(buffer.byte_add(done), length - done, 0) };
        match usize::try_from(count) {
            Ok(count) => done += count,
            Err(_) if real::errno() == libc::EINTR => {}
            Err(_) => return -1,
        }
    }
    0
}

/// The C library's `arc4random_buf`, captured.
///
/// # Safety
///
/// `buffer` is valid for writes of `length` bytes.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn arc4random_buf(buffer: *mut c_void, length: usize) {
    let mut done = 0;
    while done < length {
        // SAFETY: The rest of the caller's buffer.
        let count = unsafe { getrandom(buffer.byte_add(done), length - done, 0) };
        match usize::try_from(count) {
            Ok(count) => done += count,
            Err(_) if matches!(real::errno(), libc::EINTR | libc::EAGAIN) => {}
            // The function cannot fail, and the C library ends the process as well.
            Err(_) => std::process::abort(),
        }
    }
}

/// The C library's `arc4random`, captured.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn arc4random() -> u32 {
    let mut word = 0u32;
    // SAFETY: It is valid for writes of its own size.
    unsafe { arc4random_buf((&raw mut word).cast(), size_of::<u32>()) };
    word
}

/// The C library's `arc4random_uniform`, captured: returns a number below `bound`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    // The lowest numbers are left out, so that as many are left for each result.
    let lowest = bound.wrapping_neg() % bound;
    loop {
        let word = arc4random();
        if word >= lowest {
            return word % bound;
        }
    }
}
