//! Real time, shifted to the recorded time.
//!
//! In a replay, an activity gets the recorded readings of the clock. A library computes from them until when to wait,
//! and the kernel compares that with the real clock, which is ahead by as much as has passed since the recording, or
//! behind on a machine that was started later. So the two times must not be mixed. Each activity has a clock of its own:
//! it goes on from the activity's last recorded reading as fast as real time does. What the trace does not have is read
//! from it, and a time limit that is passed to the kernel is converted from it (see [`super::waits`]). Before its first
//! recorded reading, an activity's clock is the one that the recorded process had when it started.

use std::{
    ffi::c_int,
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use libc::clockid_t;

use super::clock::{CLOCK_IDS, CLOCKS, REALTIME, read};

/// The environment variable with the clocks at the start of the recorded process: part of a trace.
pub(crate) const VARIABLE: &str = "REENACT_CLOCKS";

/// Whether this process is a replay.
static IS_REPLAY: AtomicBool = AtomicBool::new(false);
/// How far the clocks of the recorded process were ahead when it started.
static AT_START: [AtomicU64; CLOCKS] = [const { AtomicU64::new(0) }; CLOCKS];

/// Returns the clocks, for the trace.
pub(crate) fn clocks_now() -> String {
    CLOCK_IDS
        .map(|clock| read(clock).unwrap_or(0).to_string())
        .join(" ")
}

/// Sets the clocks at the start of the recorded process. An old trace does not contain them.
pub(crate) fn play(text: Option<&str>) {
    let recorded = text.unwrap_or_default().split(' ');
    for ((shift, clock), recorded) in AT_START.iter().zip(CLOCK_IDS).zip(recorded) {
        if let (Ok(recorded), Ok(now)) = (recorded.parse::<u64>(), read(clock)) {
            shift.store(recorded.wrapping_sub(now), Relaxed);
        }
    }
    // Release: pairs with the Acquire in `is_replay`.
    IS_REPLAY.store(true, Release);
}

fn is_replay() -> bool {
    IS_REPLAY.load(Acquire)
}

/// Returns the captured clock that advances as this one does.
pub(super) fn base_of(clock: clockid_t) -> Option<usize> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(REALTIME),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME => Some(super::clock::MONOTONIC),
        // The time that a thread or process has run is never waited for with a recorded reading.
        _ => None,
    }
}

/// One clock of an activity. All times are in nanoseconds.
#[derive(Default)]
struct ShiftedClock {
    /// The last recorded reading.
    last: AtomicU64,
    /// What to add to the real clock since then; 0 before the first reading.
    shift: AtomicU64,
}

impl ShiftedClock {
    fn shift(&self, index: usize) -> u64 {
        match self.shift.load(Relaxed) {
            0 => AT_START[index].load(Relaxed),
            shift => shift,
        }
    }
}

/// The clocks of an activity under a controller. Only the activity itself uses them.
#[derive(Default)]
pub(crate) struct ShiftedClocks([ShiftedClock; CLOCKS]);

impl ShiftedClocks {
    /// Advances a clock to its next recorded reading and returns that.
    pub(super) fn advance(&self, index: usize, elapsed: u64) -> u64 {
        let clock = &self.0[index];
        let now = clock.last.load(Relaxed).wrapping_add(elapsed);
        clock.last.store(now, Relaxed);
        if !is_replay() {
            return now;
        }
        if let Ok(real) = read(CLOCK_IDS[index]) {
            clock.shift.store(now.wrapping_sub(real), Relaxed);
        }
        now
    }

    /// Reads a clock that the trace has no reading of here. If the replay is slower, the next recorded reading may be
    /// earlier: the recorded ones are the program's, and the differences between them have to be the recorded ones.
    pub(super) fn read(&self, id: clockid_t) -> Result<u64, c_int> {
        let real = read(id)?;
        let Some(index) = base_of(id).filter(|_| is_replay()) else {
            return Ok(real);
        };
        Ok(real.wrapping_add(self.0[index].shift(index)))
    }

    /// Returns the real time at which this clock shows `time`.
    pub(super) fn real(&self, index: usize, time: u64) -> u64 {
        time.wrapping_sub(self.0[index].shift(index))
    }

    /// Returns the clock whose time is closest to `time`.
    pub(super) fn closest(&self, time: u64) -> usize {
        let distance = |index: &usize| match read(CLOCK_IDS[*index]) {
            Ok(now) => now.abs_diff(self.real(*index, time)),
            Err(_) => u64::MAX,
        };
        (0..CLOCKS).min_by_key(distance).unwrap_or(REALTIME)
    }
}
