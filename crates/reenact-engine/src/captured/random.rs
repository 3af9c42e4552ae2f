//! Random bytes.

use std::{borrow::Cow, ffi::c_int};

use libc::c_void;

use super::{is_captured, real};
use crate::{
    Asked, External, Op, OpInfo, Reply, external,
    mode::{self, Mode},
};

const RANDOM: Op = Op::new(&OpInfo {
    code: 0x93,
    name: "random bytes",
});

/// The C library's, captured.
///
/// # Safety
///
/// There is room for so many bytes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize {
    if mode::byte() == Mode::Off as u8 || buffer.is_null() || !is_captured() {
        // SAFETY: The caller's.
        return unsafe { real::getrandom(buffer, length, flags) };
    }
    // SAFETY: The caller's. They are made something first: a slice has no bytes that are nothing.
    let bytes = unsafe {
        buffer.cast::<u8>().write_bytes(0, length);
        std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length)
    };
    match external(RANDOM, Random { bytes, flags }) {
        Ok(count) => count as isize,
        Err(errno) => {
            real::set_errno(errno);
            -1
        }
    }
}

/// The C library's, captured.
///
/// # Safety
///
/// There is room for so many bytes.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getentropy(buffer: *mut c_void, length: usize) -> c_int {
    if length > 256 {
        real::set_errno(libc::EIO);
        return -1;
    }
    let mut done = 0;
    while done < length {
        // SAFETY: The rest of the caller's room.
        let count = unsafe { getrandom(buffer.byte_add(done), length - done, 0) };
        match usize::try_from(count) {
            Ok(count) => done += count,
            Err(_) if real::errno() == libc::EINTR => {}
            Err(_) => return -1,
        }
    }
    0
}

struct Random<'a> {
    bytes: &'a mut [u8],
    flags: u32,
}

impl External for Random<'_> {
    /// How many, or why not.
    type Answer = Result<usize, c_int>;

    fn what(&self) -> String {
        format!("{} random bytes", self.bytes.len())
    }

    fn asked(&self) -> Asked {
        Asked::NOTHING
    }

    fn ask(&mut self) -> Self::Answer {
        let (buffer, length) = (self.bytes.as_mut_ptr().cast(), self.bytes.len());
        // SAFETY: There is room for so many.
        usize::try_from(unsafe { real::getrandom(buffer, length, self.flags) })
            .map_err(|_| real::errno())
    }

    fn tell<'a>(&'a self, answer: &'a Self::Answer) -> Reply<'a> {
        match *answer {
            Ok(count) => Reply::Bytes(Cow::Borrowed(&self.bytes[..count])),
            Err(errno) => Reply::Number(errno as u64),
        }
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<Self::Answer> {
        match reply {
            Reply::Bytes(recorded) => {
                let bytes = self.bytes.get_mut(..recorded.len())?;
                bytes.copy_from_slice(&recorded);
                Some(Ok(recorded.len()))
            }
            Reply::Number(errno) => Some(Err(errno as c_int)),
            _ => None,
        }
    }
}
