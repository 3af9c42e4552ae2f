//! Entries: events, and what else the trace contains, with their decoding. Their encoding is in [`encode`].
//!
//! The table is in `docs/trace-format.md`. Version 1 had no entries from 0x64 on, and ordinary events from 0x20 to
//! 0x3f.

mod encode;

pub(crate) use self::encode::{
    EntryEncoder, compact_difference, compact_switch, short_clock, short_form, short_time,
};

use crate::event::{Event, Item, Kind};

/// An entry of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    Item(Item),
    /// The following entries are of this activity, which is at this position, after `still` items at this position that
    /// stood for no operation.
    Switch {
        activity: u32,
        position: u64,
        still: u16,
    },
    /// Like `Switch`, to an activity that the chunk contains entries of, and that has written nothing elsewhere since:
    /// its number is that of the current activity plus `difference`.
    Return {
        difference: i16,
    },
    /// The origin of an activity.
    Start {
        origin: u64,
        index: u64,
        name: &'a [u8],
    },
    /// Activities with consecutive numbers ended alike, without having written anything else. Does not change the
    /// current activity of the chunk.
    Run(Run),
}

/// Activities with consecutive numbers that ended alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// How many operations each of them did.
    pub(crate) operations: u32,
    pub(crate) hash: u32,
}

impl Run {
    /// The number after the last.
    pub(crate) fn end(&self) -> u64 {
        u64::from(self.first) + u64::from(self.count)
    }
}

const COMPACT: u8 = 0x80;
const COMPACT_LOOK: u8 = 0x40;
const COMPACT_RECEIVE: u8 = 0x20;
const SWITCH: u8 = 0x60;
const START: u8 = 0x61;
const TICK: u8 = 0x62;
const END: u8 = 0x63;
const SWITCH_STILL: u8 = 0x64;
const RUN: u8 = 0x65;
const CLOCK: u8 = 0x66;
const TIME: u8 = 0x6e;
const RETURN: u8 = 0x70;

/// Number of bits for the difference of an [`Entry::Return`].
const RETURN_BITS: u32 = 12;

/// Maximum length of a name in a start; longer ones are truncated.
pub(crate) const MAX_NAME: usize = 64;
/// Maximum length of an item: an event with two numbers.
pub(crate) const MAX_ITEM: usize = 1 + 5 + 10 + 10;
/// Maximum length of what is appended at once: a start with its switch.
pub(crate) const MAX_ENCODED: usize = (1 + 5 + 10 + 3) + (1 + 10 + 10 + 1 + MAX_NAME);

/// Why bytes cannot be decoded.
pub(crate) type Malformed = &'static str;

/// Decodes one entry from the front of `bytes`, in the format of this version.
#[inline]
pub(crate) fn decode<'a>(bytes: &mut &'a [u8], version: u16) -> Result<Entry<'a>, Malformed> {
    let tag = take_byte(bytes)?;
    if tag & COMPACT != 0 {
        let kind = if tag & COMPACT_LOOK != 0 {
            Kind::LOOK
        } else {
            Kind::TAKE
        };
        return Ok(Entry::Item(Item::Event(Event {
            silent: u32::from(tag >> 4 & 3),
            kind,
            number: u64::from(tag & 15),
            second: 0,
        })));
    }
    if tag & 0xe0 == COMPACT_RECEIVE && version > 1 {
        return Ok(Entry::Item(Item::Event(Event {
            silent: u32::from(tag >> 4 & 1),
            kind: Kind::RECEIVE,
            number: u64::from(tag & 15) << 8 | u64::from(take_byte(bytes)?),
            second: 0,
        })));
    }
    if (0x01..SWITCH).contains(&tag) {
        let kind = Kind(tag);
        let silent = take_u32(bytes)?;
        let number = take_number(bytes)?;
        let second = if kind.has_two_numbers() {
            take_number(bytes)?
        } else {
            0
        };
        return Ok(Entry::Item(Item::Event(Event {
            silent,
            kind,
            number,
            second,
        })));
    }
    decode_own(tag, bytes, version)
}

/// Removes all events in a short form from the front of `bytes`; returns how many operations they stand for.
#[inline]
pub(crate) fn take_short_forms(bytes: &mut &[u8]) -> u64 {
    let mut operations = 0;
    loop {
        match **bytes {
            [tag, ref rest @ ..] if tag & COMPACT != 0 => {
                operations += u64::from(tag >> 4 & 3) + 1;
                *bytes = rest;
            }
            [tag, _, ref rest @ ..] if tag & 0xe0 == COMPACT_RECEIVE => {
                operations += u64::from(tag >> 4 & 1) + 1;
                *bytes = rest;
            }
            _ => return operations,
        }
    }
}

/// Decodes the rest of an entry whose tag is above those of events.
fn decode_own<'a>(tag: u8, bytes: &mut &'a [u8], version: u16) -> Result<Entry<'a>, Malformed> {
    match tag {
        SWITCH => Ok(Entry::Switch {
            activity: take_u32(bytes)?,
            position: take_number(bytes)?,
            still: 0,
        }),
        START => {
            let (origin, index, name) = take_start(bytes)?;
            Ok(Entry::Start {
                origin,
                index,
                name,
            })
        }
        TICK => Ok(Entry::Item(Item::Tick {
            silent: take_u32(bytes)?,
            hash: take_hash(bytes)?,
        })),
        END => Ok(Entry::Item(Item::End {
            silent: take_u32(bytes)?,
            hash: take_hash(bytes)?,
        })),
        _ if version == 1 => Err(UNKNOWN),
        SWITCH_STILL => Ok(Entry::Switch {
            activity: take_u32(bytes)?,
            position: take_number(bytes)?,
            still: u16::try_from(take_number(bytes)?)
                .map_err(|_| "more items at one position than there can be")?,
        }),
        RUN => {
            let first = take_u32(bytes)?;
            let operations = take_u32(bytes)?;
            let hash = take_hash(bytes)?;
            let count = take(bytes, 2)?;
            let run = Run {
                first,
                count: u16::from_le_bytes(count.try_into().expect("two bytes")).into(),
                operations,
                hash,
            };
            if run.count == 0 || run.end() > 1 << 32 {
                return Err("a run of ends of no activities");
            }
            Ok(Entry::Run(run))
        }
        CLOCK..RETURN if version > 2 => {
            let form = u32::from(tag - CLOCK);
            let (kind, silent, length) = match tag {
                ..TIME => (Kind::CLOCK, form / 4, form % 4 + 1),
                TIME => (Kind::TIME, 0, 3),
                _ => (Kind::TIME, 0, 5),
            };
            let mut number = [0; 8];
            let length = length as usize;
            number[..length].copy_from_slice(take(bytes, length)?);
            Ok(Entry::Item(Item::Event(Event {
                silent,
                kind,
                number: u64::from_le_bytes(number),
                second: 0,
            })))
        }
        RETURN.. => {
            let zigzag = i16::from(tag & 15) << 8 | i16::from(take_byte(bytes)?);
            Ok(Entry::Return {
                difference: zigzag >> 1 ^ -(zigzag & 1),
            })
        }
        _ => Err(UNKNOWN),
    }
}

const UNKNOWN: Malformed = "an unknown kind of entry";
const SHORT: Malformed = "an entry that is cut short";

pub(crate) fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (head, rest) = bytes.split_at_checked(length).ok_or(SHORT)?;
    *bytes = rest;
    Ok(head)
}

#[inline]
pub(crate) fn take_byte(bytes: &mut &[u8]) -> Result<u8, Malformed> {
    let (&first, rest) = bytes.split_first().ok_or(SHORT)?;
    *bytes = rest;
    Ok(first)
}

pub(crate) fn take_hash(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    let head = take(bytes, 4)?;
    Ok(u32::from_le_bytes(head.try_into().expect("four bytes")))
}

#[inline]
pub(crate) fn take_number(bytes: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let byte = take_byte(bytes)?;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err("a number larger than 64 bits");
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number larger than 64 bits")
}

#[inline]
pub(crate) fn take_u32(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take_number(bytes)?).map_err(|_| "a number larger than 32 bits")
}

/// Decodes origin, index and name of a start.
pub(crate) fn take_start<'a>(bytes: &mut &'a [u8]) -> Result<(u64, u64, &'a [u8]), Malformed> {
    let origin = take_number(bytes)?;
    let index = take_number(bytes)?;
    let length = take_number(bytes)? as usize;
    if length > MAX_NAME {
        return Err("a name longer than names can be");
    }
    Ok((origin, index, take(bytes, length)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reenact_testing::generated;

    use super::*;
    use crate::FORMAT_VERSION;

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::TAKE),
            Just(Kind::LOOK),
            Just(Kind::RECEIVE),
            Just(Kind::TAKE_AFTER_LOOKS),
            Just(Kind::CLOCK),
            Just(Kind::TIME),
            (1..0x60u8).prop_filter_map("reserved", Kind::new),
        ]
    }

    fn numbers() -> impl Strategy<Value = u64> {
        let of_bits = (0..64u32).prop_flat_map(|bits| 0..=u64::MAX >> bits);
        prop_oneof![0..20u64, 100..20_000u64, of_bits]
    }

    /// Checks that what `encode` writes is decoded to `expected`; returns its length.
    fn check(encode: impl FnOnce(&mut EntryEncoder<'_>), expected: Entry<'_>) -> usize {
        let mut buffer = [0; MAX_ENCODED];
        let mut encoder = EntryEncoder::new(&mut buffer);
        encode(&mut encoder);
        let used = encoder.used();
        let mut bytes = &buffer[..used];
        assert_eq!(decode(&mut bytes, FORMAT_VERSION), Ok(expected));
        assert!(bytes.is_empty());
        used
    }

    proptest! {
        #![proptest_config(generated::config(256))]

        #[test]
        fn what_is_encoded_is_decoded(kind in kinds(), silent in prop_oneof![0..6u32, any::<u32>()], number in numbers(), second in numbers()) {
            let event = Event { silent, kind, number, second: if kind.has_two_numbers() { second } else { 0 } };
            let used = check(|encoder| encoder.event(&event), Entry::Item(Item::Event(event)));
            prop_assert!(used <= MAX_ITEM);
        }

        #[test]
        fn switches_are_decoded(activity: u32, current: u32, near in -3000..3000i64, position in numbers(), still: u16) {
            check(
                |encoder| encoder.switch(activity, position, still),
                Entry::Switch { activity, position, still },
            );
            let near = (i64::from(current) + near).clamp(0, u32::MAX.into()) as u32;
            for activity in [activity, near] {
                let difference = i64::from(activity) - i64::from(current);
                let compact = compact_difference(current, activity);
                prop_assert_eq!(compact.is_some(), (-2048..2048).contains(&difference));
                if let Some(compact) = compact {
                    let used = check(
                        |encoder| encoder.compact_switch(compact),
                        Entry::Return { difference: difference as i16 },
                    );
                    prop_assert_eq!(used, 2);
                }
            }
        }

        #[test]
        fn runs_are_decoded_and_have_their_count_at_an_even_place(at in 0..2usize, first in 0..u32::MAX, operations: u32, hash: u32) {
            let mut count_at = 0;
            let used = check(
                |encoder| count_at = encoder.run(at, first, operations, hash),
                Entry::Run(Run { first, count: 1, operations, hash }),
            );
            prop_assert_eq!((count_at % 2, count_at + 2), (0, at + used));
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), version in 1..4u16) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && decode(&mut rest, version).is_ok() {}
        }
    }

    proptest! {
        #![proptest_config(generated::config(256))]

        #[test]
        fn short_forms_are_taken_like_any_others(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let (mut quick, mut slow) = (&bytes[..], &bytes[..]);
            let operations = take_short_forms(&mut quick);
            let mut sum = 0;
            while slow.len() > quick.len() {
                let Ok(Entry::Item(item)) = decode(&mut slow, 2) else {
                    panic!("no item");
                };
                sum += item.operations();
            }
            prop_assert_eq!((operations, quick), (sum, slow));
        }
    }

    fn length_of(silent: u32, kind: Kind, number: u64) -> usize {
        let mut buffer = [0; MAX_ENCODED];
        let mut encoder = EntryEncoder::new(&mut buffer);
        encoder.event(&Event {
            silent,
            kind,
            number,
            second: 0,
        });
        encoder.used()
    }

    #[test]
    fn a_hand_over_between_two_threads_is_one_byte() {
        assert_eq!(length_of(1, Kind::TAKE, 2), 1);
    }

    #[test]
    fn a_message_of_one_of_4096_senders_is_two_bytes() {
        assert_eq!(length_of(0, Kind::RECEIVE, 0), 2);
        assert_eq!(length_of(1, Kind::RECEIVE, 4095), 2);
        assert_eq!(length_of(2, Kind::RECEIVE, 4095), 4);
        assert_eq!(length_of(1, Kind::RECEIVE, 4096), 4);
    }

    #[test]
    fn a_reading_of_a_clock_is_as_long_as_it_has_to_be() {
        for (bytes, most) in [(1, 0xff), (2, 0xffff), (3, 0xff_ffff), (4, 0xffff_ffff)] {
            assert_eq!(length_of(0, Kind::CLOCK, most), 1 + bytes);
            assert_eq!(length_of(1, Kind::CLOCK, most), 1 + bytes);
        }
        assert_eq!(length_of(0, Kind::CLOCK, 1 << 32), 7);
        assert_eq!(length_of(2, Kind::CLOCK, 1), 3);
        assert_eq!(length_of(0, Kind::TIME, 1), 4);
        assert_eq!(length_of(0, Kind::TIME, (1 << 40) - 1), 6);
        assert_eq!(length_of(1, Kind::TIME, 1), 3);
    }

    #[test]
    fn version_2_had_no_readings_of_clocks() {
        for tag in 0x66..0x70 {
            assert_eq!(decode(&mut &[tag, 0, 0, 0, 0, 0][..], 2), Err(UNKNOWN));
        }
    }

    #[test]
    fn version_1_had_ordinary_events_where_messages_are_now() {
        let mut bytes: &[u8] = &[0x3f, 2, 5];
        let Ok(Entry::Item(Item::Event(event))) = decode(&mut bytes, 1) else {
            panic!("no event");
        };
        assert_eq!(
            (event.kind.code(), event.silent, event.number),
            (0x3f, 2, 5)
        );
        assert_eq!(decode(&mut &[0x70, 0][..], 1), Err(UNKNOWN));
        assert_eq!(decode(&mut &[0x64, 0, 0, 1][..], 1), Err(UNKNOWN));
    }
}
