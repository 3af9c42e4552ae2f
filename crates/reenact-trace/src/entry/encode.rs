//! The encoding of entries.

use super::{
    CLOCK, COMPACT, COMPACT_LOOK, COMPACT_RECEIVE, END, MAX_NAME, RETURN, RETURN_BITS, RUN, START,
    SWITCH, SWITCH_STILL, TICK, TIME,
};
use crate::event::{Event, Kind};

/// Returns the difference for a two-byte switch from `current` to `activity`, if it is small enough.
#[inline]
pub(crate) fn compact_difference(current: u32, activity: u32) -> Option<u16> {
    let difference = i64::from(activity) - i64::from(current);
    let zigzag = (difference << 1 ^ difference >> 63) as u64;
    (zigzag < 1 << RETURN_BITS).then_some(zigzag as u16)
}

/// Encodes an event in the short form that most have: two bytes, and how many of them are valid.
#[inline]
pub(crate) fn short_form(event: &Event) -> Option<([u8; 2], usize)> {
    let Event {
        silent,
        kind,
        number,
        ..
    } = *event;
    let silent_bits = (silent as u8) << 4;
    match kind {
        Kind::TAKE | Kind::LOOK if silent < 4 && number < 16 => {
            let look = if kind == Kind::LOOK { COMPACT_LOOK } else { 0 };
            Some(([COMPACT | look | silent_bits | number as u8, 0], 1))
        }
        Kind::RECEIVE if silent < 2 && number < 1 << 12 => {
            let tag = COMPACT_RECEIVE | silent_bits | (number >> 8) as u8;
            Some(([tag, number as u8], 2))
        }
        _ => None,
    }
}

/// Encodes a reading of the clock in a short form: one to four bytes for the number, at most one silent operation
/// before.
#[inline(always)]
pub(crate) fn short_clock(silent: u32, number: u64, bytes: u32) -> [u8; 8] {
    let tag = u32::from(CLOCK) + silent * 4 + bytes - 1;
    (u64::from(tag) | number << 8).to_le_bytes()
}

/// Encodes a reading of the time of day in a short form: three or five bytes for the number, no silent operation
/// before.
#[inline(always)]
pub(crate) fn short_time(number: u64, bytes: u32) -> [u8; 8] {
    let tag = u32::from(TIME) + bytes / 5;
    (u64::from(tag) | number << 8).to_le_bytes()
}

/// Encodes a reading of either clock in a short form, with the number of valid bytes.
fn short_reading(event: &Event) -> Option<([u8; 8], usize)> {
    let Event {
        silent,
        kind,
        number,
        ..
    } = *event;
    let needed = (71 - (number | 1).leading_zeros()) / 8;
    match (kind, needed) {
        (Kind::CLOCK, 1..=4) if silent < 2 => {
            Some((short_clock(silent, number, needed), 1 + needed as usize))
        }
        (Kind::TIME, 1..=3) if silent == 0 => Some((short_time(number, 3), 4)),
        (Kind::TIME, 4..=5) if silent == 0 => Some((short_time(number, 5), 6)),
        _ => None,
    }
}

/// Encodes a switch with the result of [`compact_difference`].
#[inline]
pub(crate) fn compact_switch(difference: u16) -> [u8; 2] {
    [RETURN | (difference >> 8) as u8, difference as u8]
}

/// Encodes entries into a buffer that the caller has made large enough.
pub(crate) struct EntryEncoder<'a> {
    buffer: &'a mut [u8],
    used: usize,
}

impl<'a> EntryEncoder<'a> {
    #[inline]
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        EntryEncoder { buffer, used: 0 }
    }

    #[inline]
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.buffer[self.used] = byte;
        self.used += 1;
    }

    #[inline]
    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.buffer[self.used..][..bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        if let Some((bytes, length)) = short_form(event) {
            self.bytes(&bytes[..length]);
            return;
        }
        if let Some((bytes, length)) = short_reading(event) {
            self.bytes(&bytes[..length]);
            return;
        }
        self.byte(event.kind.0);
        self.number(event.silent.into());
        self.number(event.number);
        if event.kind.has_two_numbers() {
            self.number(event.second);
        }
    }

    pub(crate) fn tick(&mut self, silent: u32, hash: u32) {
        self.byte(TICK);
        self.number(silent.into());
        self.bytes(&hash.to_le_bytes());
    }

    pub(crate) fn end(&mut self, silent: u32, hash: u32) {
        self.byte(END);
        self.number(silent.into());
        self.bytes(&hash.to_le_bytes());
    }

    pub(crate) fn switch(&mut self, activity: u32, position: u64, still: u16) {
        self.byte(if still == 0 { SWITCH } else { SWITCH_STILL });
        self.number(activity.into());
        self.number(position);
        if still != 0 {
            self.number(still.into());
        }
    }

    pub(crate) fn compact_switch(&mut self, difference: u16) {
        self.bytes(&compact_switch(difference));
    }

    pub(crate) fn start(&mut self, origin: u64, index: u64, name: &[u8]) {
        let name = &name[..name.len().min(MAX_NAME)];
        self.byte(START);
        self.number(origin);
        self.number(index);
        self.number(name.len() as u64);
        self.bytes(name);
    }

    /// Encodes a run of one activity, in a buffer that begins `at` this offset of the payload. The count gets an even
    /// offset in the payload, so that a single store can change it; returns that offset.
    pub(crate) fn run(&mut self, at: usize, activity: u32, operations: u32, hash: u32) -> usize {
        self.byte(RUN);
        self.number(activity.into());
        self.number(operations.into());
        if !(at + self.used).is_multiple_of(2) {
            // Pads the number with a byte, which does not change its value.
            self.buffer[self.used - 1] |= 0x80;
            self.byte(0);
        }
        self.bytes(&hash.to_le_bytes());
        self.bytes(&1u16.to_le_bytes());
        at + self.used - 2
    }
}
