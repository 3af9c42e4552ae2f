//! Clocks.
//!
//! A program may read the time more often than it does anything else, so recording it has a fast path: what is written
//! is the difference to the activity's last reading of the same clock, which takes two or three bytes.

use std::ffi::c_int;

use libc::{c_void, clockid_t, time_t, timespec, timeval};

use reenact_trace::Kind;

use super::{callers, is_captured, real};
use crate::{
    Asked, Captured, External, Heard, Question, Reply,
    activity::{current_is_foreign, with_controlled},
    arrivals::unzigzag,
    external,
    mode::{self, Mode},
    record::{self, Reading},
};

/// The clocks whose last reading activities keep.
pub(super) const MONOTONIC: usize = 0;
pub(crate) const REALTIME: usize = 1;
pub(crate) const CLOCKS: usize = 2;

pub(super) const CLOCK_IDS: [clockid_t; CLOCKS] = [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME];

const WHAT: [Captured; CLOCKS] = [Captured::Clock, Captured::TimeOfDay];
/// The kinds of their events.
pub(crate) const CLOCK_KINDS: [Kind; CLOCKS] = [Kind::CLOCK, Kind::TIME];

crate::operations! {
    OTHER = 0xf2 External "read a clock";
}

/// The C library's `clock_gettime`, captured. Only a jump, with the return address as an additional argument.
///
/// # Safety
///
/// `time` is valid for writes.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    std::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym asked_from)
}

/// The C library's `clock_gettime`, captured. Only a jump, with the return address as an additional argument.
///
/// # Safety
///
/// `time` is valid for writes.
#[cfg(target_arch = "aarch64")]
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    std::arch::naked_asm!("mov x2, x30", "b {}", sym asked_from)
}

/// The C library's `clock_gettime`, captured, where the return address is not available.
///
/// # Safety
///
/// `time` is valid for writes.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: The caller guarantees that `time` is valid.
    unsafe { asked_from(clock, time, 0) }
}

/// Reads a clock, called from this return address.
unsafe extern "C" fn asked_from(clock: clockid_t, time: *mut timespec, place: usize) -> c_int {
    let mode = mode::byte();
    // SAFETY: The caller guarantees that `time` is valid.
    unsafe {
        if mode == Mode::Off as u8 || callers::is_allocator(place) {
            return result_of(real::clock_gettime(clock, time));
        }
        match clock {
            libc::CLOCK_MONOTONIC if mode == Mode::Record as u8 => {
                recorded::<MONOTONIC>(time, place)
            }
            libc::CLOCK_REALTIME if mode == Mode::Record as u8 => recorded::<REALTIME>(time, place),
            _ => in_some_mode(clock, time, place),
        }
    }
}

/// Turns the result of the kernel's function into that of the C library's.
#[inline(always)]
fn result_of(result: c_int) -> c_int {
    if result < 0 {
        return failed(result);
    }
    result
}

#[cold]
fn failed(result: c_int) -> c_int {
    real::set_errno(-result);
    -1
}

/// The C library's `gettimeofday`, captured.
///
/// # Safety
///
/// `time` is valid for writes, or null.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is valid for writes, and `time` too, as the caller guarantees, unless it is null.
    unsafe {
        let result = clock_gettime(libc::CLOCK_REALTIME, &mut now);
        if result == 0 && !time.is_null() {
            *time = timeval {
                tv_sec: now.tv_sec,
                tv_usec: now.tv_nsec / 1000,
            };
        }
        result
    }
}

/// The C library's `time`, captured.
///
/// # Safety
///
/// `time` is valid for writes, or null.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) unsafe extern "C" fn time(time: *mut time_t) -> time_t {
    let mut now = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is valid for writes, and `time` too, as the caller guarantees, unless it is null.
    unsafe {
        clock_gettime(libc::CLOCK_REALTIME, &mut now);
        if !time.is_null() {
            *time = now.tv_sec;
        }
    }
    now.tv_sec
}

/// The C library's `clock`, captured: the processor time of the process in microseconds.
#[cfg_attr(target_env = "gnu", unsafe(no_mangle))]
pub(super) extern "C" fn clock() -> libc::clock_t {
    let mut now = timespec_of(0);
    // SAFETY: `now` is valid for writes.
    match unsafe { clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) } {
        0 => now.tv_sec * 1_000_000 + now.tv_nsec / 1000,
        _ => -1,
    }
}

pub(super) fn nanoseconds(time: &timespec) -> u64 {
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

fn reading_of(nanoseconds: u64) -> Reading {
    let timespec { tv_sec, tv_nsec } = timespec_of(nanoseconds);
    Reading {
        seconds: tv_sec,
        nanoseconds: tv_nsec,
    }
}

pub(super) fn timespec_of(nanoseconds: u64) -> timespec {
    let nanoseconds = nanoseconds as i64;
    timespec {
        tv_sec: nanoseconds.div_euclid(1_000_000_000),
        tv_nsec: nanoseconds.rem_euclid(1_000_000_000),
    }
}

fn index_of(clock: clockid_t) -> Option<usize> {
    CLOCK_IDS.iter().position(|&id| id == clock)
}

/// Out of line, to keep the path for off short.
#[inline(never)]
unsafe fn recorded<const INDEX: usize>(time: *mut timespec, place: usize) -> c_int {
    // SAFETY: The caller guarantees that `time` is valid; it is read only after the clock has written to it.
    unsafe {
        let result = real::clock_gettime(CLOCK_IDS[INDEX], time);
        if result < 0 {
            return failed(result);
        }
        let timespec { tv_sec, tv_nsec } = *time;
        if note::<INDEX>(tv_sec, tv_nsec) {
            return 0;
        }
        note_at_length(INDEX, reading_of(nanoseconds(&*time)), place)
    }
}

/// Separate from reading the clock, so that nothing that only the slow path needs has to be kept across it.
#[inline(never)]
fn note<const INDEX: usize>(seconds: i64, nanoseconds: i64) -> bool {
    let now = Reading {
        seconds,
        nanoseconds,
    };
    record::clock_briefly::<INDEX>(now, WHAT[INDEX].op())
}

#[cold]
#[inline(never)]
fn note_at_length(index: usize, now: Reading, place: usize) -> c_int {
    if is_captured() && callers::may_introduce(place) {
        record::clock(index, now, WHAT[index].op());
    }
    0
}

#[cold]
#[inline(never)]
unsafe fn in_some_mode(clock: clockid_t, time: *mut timespec, place: usize) -> c_int {
    if !is_captured() || !callers::may_introduce(place) {
        callers::note(place);
        // SAFETY: The caller guarantees that `time` is valid.
        return result_of(unsafe { real::clock_gettime(clock, time) });
    }
    let now = match index_of(clock) {
        // The mode has just been settled.
        Some(index) if mode::byte() == Mode::Record as u8 => {
            read(clock).inspect(|&now| record::clock(index, reading_of(now), WHAT[index].op()))
        }
        Some(index) => played(index),
        // How often a library reads these clocks depends on what is not recorded.
        None if current_is_foreign() => read_shifted(clock),
        None => external(OTHER, Seldom(clock)),
    };
    match now {
        Ok(now) => {
            // SAFETY: The caller guarantees that `time` is valid.
            unsafe { *time = timespec_of(now) };
            0
        }
        Err(errno) => failed(-errno),
    }
}

/// Returns the recorded reading of this clock, in a replay; where there is none, the real time as it would be then.
fn played(index: usize) -> Result<u64, c_int> {
    let now = with_controlled(|me| {
        let question = Question::Library(WHAT[index]);
        match me.controller.outside(&me.activity, question) {
            Some(Heard::Elapsed(elapsed)) => Ok(me.clocks.advance(index, unzigzag(elapsed))),
            _ => me.clocks.read(CLOCK_IDS[index]),
        }
    });
    now.unwrap_or_else(|| read(CLOCK_IDS[index]))
}

/// Reads a clock of which no readings are recorded.
fn read_shifted(clock: clockid_t) -> Result<u64, c_int> {
    with_controlled(|me| me.clocks.read(clock)).unwrap_or_else(|| read(clock))
}

pub(super) fn read(clock: clockid_t) -> Result<u64, c_int> {
    let mut now = timespec_of(0);
    // SAFETY: `now` is valid for writes.
    match unsafe { real::clock_gettime(clock, &mut now) } {
        0 => Ok(nanoseconds(&now)),
        error => Err(-error),
    }
}

/// A clock that is rarely read.
struct Seldom(clockid_t);

impl External for Seldom {
    type Answer = Result<u64, c_int>;

    fn what(&self) -> String {
        format!("a reading of clock {}", self.0)
    }

    fn asked(&self) -> Asked {
        Asked::bytes(&self.0.to_le_bytes())
    }

    fn ask(&mut self) -> Self::Answer {
        read(self.0)
    }

    fn reply<'a>(&'a self, answer: &'a Self::Answer) -> Reply<'a> {
        Reply::Number(match *answer {
            Ok(now) => now << 1,
            Err(errno) => (errno as u64) << 1 | 1,
        })
    }

    fn hear(&mut self, reply: Reply<'_>) -> Option<Self::Answer> {
        match reply {
            Reply::Number(number) if number & 1 == 0 => Some(Ok(number >> 1)),
            Reply::Number(number) => Some(Err((number >> 1) as c_int)),
            _ => None,
        }
    }
}
