//! Standard output and standard error.
//!
//! The standard library prints with the C library's `write` and `writev`, and so do others. What C code prints with
//! `printf` does not come past here, nor what is written to copies of the two descriptors.

use std::{
    borrow::Cow,
    cell::Cell,
    ffi::{c_int, c_void},
};

use libc::iovec;

use super::{is_captured, real};
use crate::{
    Heard, Question,
    activity::with_controlled,
    attempt::is_attempting,
    external::{is_played, untracked},
    mode::{self, Mode},
    printed::{self, Stream},
    record,
};

/// The C library's `write`, captured.
///
/// # Safety
///
/// As for the C library's `write`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn write(file: c_int, buffer: *const c_void, count: usize) -> isize {
    // SAFETY: The caller fulfils the conditions of the C library's function.
    let write = || unsafe { real::write(file, buffer, count) };
    match Stream::of(file) {
        Some(stream) if count > 0 && is_part_of_the_program() => {
            // SAFETY: The caller guarantees that the buffer is valid.
            let text = unsafe { std::slice::from_raw_parts(buffer.cast(), count) };
            prints(stream, text, write)
        }
        _ => write(),
    }
}

/// The C library's `writev`, captured.
///
/// # Safety
///
/// As for the C library's `writev`.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn writev(file: c_int, parts: *const iovec, count: c_int) -> isize {
    // SAFETY: The caller fulfils the conditions of the C library's function.
    let write = || unsafe { real::writev(file, parts, count) };
    match (Stream::of(file), usize::try_from(count)) {
        (Some(stream), Ok(count)) if count > 0 && is_part_of_the_program() => {
            // SAFETY: The caller guarantees that the parts are valid.
            let text = unsafe { joined(std::slice::from_raw_parts(parts, count)) };
            match text.is_empty() {
                true => write(),
                false => prints(stream, &text, write),
            }
        }
        _ => write(),
    }
}

/// Joins the parts of a text.
///
/// # Safety
///
/// The parts are valid.
unsafe fn joined(parts: &[iovec]) -> Cow<'_, [u8]> {
    let bytes = |part: &iovec| match part.iov_len {
        // It may have no address.
        0 => &[][..],
        // SAFETY: The caller guarantees that it is valid.
        length => unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), length) },
    };
    match parts {
        [part] => bytes(part).into(),
        _ => parts
            .iter()
            .flat_map(bytes)
            .copied()
            .collect::<Vec<_>>()
            .into(),
    }
}

/// Returns whether what the calling thread prints is recorded or compared. Within a transaction it is not: the
/// transaction may run several times when it is recorded, and runs once in a replay.
fn is_part_of_the_program() -> bool {
    let mode = mode::byte();
    let is_asked = mode == Mode::Record as u8
        || (mode == Mode::Replay as u8 || mode == Mode::Controlled as u8)
            && printed::is_compared()
            && is_played();
    is_asked && is_captured() && !is_attempting() && !is_on_signal_stack()
}

thread_local! {
    /// Where the thread's stack for signal handlers is, once that is known: its first address, and the one after it.
    static SIGNAL_STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Returns whether the calling code is a signal handler on a stack of its own. That stack is small, and the thread may
/// be in the middle of anything, such as an allocation.
fn is_on_signal_stack() -> bool {
    let (begin, end) = SIGNAL_STACK.get().unwrap_or_else(|| {
        // SAFETY: The call writes to `stack`, which consists of plain numbers and a pointer.
        let stack = unsafe {
            let mut stack: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(std::ptr::null(), &mut stack);
            stack
        };
        let begin = stack.ss_sp.addr();
        let found = match stack.ss_flags & libc::SS_DISABLE {
            0 => (begin, begin.saturating_add(stack.ss_size)),
            _ => (0, 0),
        };
        SIGNAL_STACK.set(Some(found));
        found
    });
    let here = 0u8;
    (begin..end).contains(&std::ptr::from_ref(&here).addr())
}

/// Prints a text, which `write` writes.
fn prints(stream: Stream, text: &[u8], write: impl Fn() -> isize) -> isize {
    if mode::byte() != Mode::Record as u8 {
        let heard = with_controlled(|me| {
            let question = Question::Print { stream, text };
            me.controller.outside(&me.activity, question)
        });
        return match heard.flatten() {
            Some(Heard::Written(Ok(count))) => count as isize,
            Some(Heard::Written(Err(errno))) => {
                real::set_errno(errno);
                -1
            }
            _ => write(),
        };
    }
    untracked(|| {
        // Kept until the text is printed: the recorded order is the real one.
        let mut order = printed::order(stream);
        record::printed(stream, &mut order, text);
        let result = write();
        let taken = usize::try_from(result).map_err(|_| real::errno());
        if taken != Ok(text.len()) {
            record::printed_in_part(stream, text, taken.map(|count| count.min(text.len())));
        }
        if let Err(errno) = taken {
            real::set_errno(errno);
        }
        result
    })
}
