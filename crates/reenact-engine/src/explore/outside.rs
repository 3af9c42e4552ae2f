//! External values that would differ between executions: a clock that advances only with an activity's own calls, and
//! random bytes that are the same in all executions.

use std::sync::Arc;

use crate::{Captured, Heard, arrivals::zigzag};

/// What one activity has requested.
#[derive(Default)]
pub(super) struct Outside {
    asked: [u64; 3],
    /// How long it has slept since it last read each clock, in nanoseconds.
    slept: [u64; 2],
    /// How often it has read a clock since its last operation, and the number of its operations then.
    idle_readings: u32,
    operations: u32,
}

/// The first readings of the clocks in nanoseconds: some days after the monotonic clock began, and a fixed date.
const FIRST: [u64; 2] = [1_000_000_000_000_000, 1_735_689_600_000_000_000];
/// How far each reading advances a clock, in nanoseconds.
const LATER: u64 = 1_000;
/// How often an activity may read a clock without doing anything else before each reading advances it twice as far as the
/// one before: it waits for a point in time.
const IDLE_READINGS: u32 = 64;
/// Maximum number of random bytes.
const BYTES: usize = 256;

impl Outside {
    /// Returns the next value for this activity, which has performed so many operations.
    pub(super) fn recall(&mut self, activity: u32, operations: u32, what: Captured) -> Heard {
        let index = match what {
            Captured::Clock => 0,
            Captured::TimeOfDay => 1,
            Captured::Random => 2,
        };
        let asked = self.asked[index];
        self.asked[index] += 1;
        if what == Captured::Random {
            return Heard::Bytes(bytes(u64::from(activity) << 32 | asked));
        }
        self.idle_readings = match self.operations == operations {
            true => self.idle_readings + 1,
            false => 0,
        };
        self.operations = operations;
        let faster = self.idle_readings.saturating_sub(IDLE_READINGS).min(40);
        let since = if asked == 0 {
            FIRST[index]
        } else {
            LATER << faster
        };
        let later = since.saturating_add(std::mem::take(&mut self.slept[index]));
        Heard::Elapsed(zigzag(later))
    }

    /// Advances the clocks by this sleep.
    pub(super) fn sleep(&mut self, nanoseconds: u64) {
        for slept in &mut self.slept {
            *slept = slept.saturating_add(nanoseconds);
        }
    }
}

/// Returns pseudorandom bytes.
fn bytes(seed: u64) -> Arc<[u8]> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    });
    words.flat_map(u64::to_le_bytes).take(BYTES).collect()
}
