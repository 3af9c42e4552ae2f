//! Events and how they become bytes.
//!
//! An event says: since the last one, `silent` operations of this activity went as predicted; the next one did
//! not, it is of this kind and its outcome is this number. The two kinds that dominate real traces, taking an
//! entity and looking at it, fit in one byte together with small numbers:
//!
//! ```text
//! 1 L S S N N N N    L: 0 take, 1 look   S: silent 0–3   N: number 0–15
//! 0 K K K K K K K    kind K, then silent and number(s) as LEB128
//! ```
//!
//! Kinds from 0x40 on carry a second number; kinds from 0x60 on are the trace's own (start, switch, tick, end).

/// What an event is about. Models choose numbers; the trace only stores them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(u8);

impl Kind {
    /// Took the entity for itself; the number is the position in the entity's order.
    pub const TAKE: Kind = Kind(0x01);
    /// Looked at the entity; the number is the position it saw.
    pub const LOOK: Kind = Kind(0x02);
    /// Gave up at once: the entity was not to be had.
    pub const DECLINED: Kind = Kind(0x03);
    /// A timed wait that ran out, and took the entity again; the number is as for [`Kind::TAKE`].
    pub const TIMED_OUT: Kind = Kind(0x04);
    /// An answer that depends on timing, not on an entity.
    pub const CHOICE: Kind = Kind(0x05);
    /// A number from outside the program.
    pub const OUTSIDE: Kind = Kind(0x06);
    /// Took the entity after others had looked at it; the second number says how often.
    pub const TAKE_AFTER_LOOKS: Kind = Kind(0x41);

    const FIRST_OF_TWO: u8 = 0x40;
    const FIRST_RESERVED: u8 = 0x60;

    /// A kind for events of a model; one number below 0x40, two below 0x60, `None` for what is reserved.
    pub const fn new(code: u8) -> Option<Kind> {
        if code != 0 && code < Self::FIRST_RESERVED {
            Some(Kind(code))
        } else {
            None
        }
    }

    /// The byte that stands for it.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Whether events of this kind have a second number.
    pub const fn has_two_numbers(self) -> bool {
        self.0 >= Self::FIRST_OF_TWO
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Kind::TAKE => f.write_str("take"),
            Kind::LOOK => f.write_str("look"),
            Kind::DECLINED => f.write_str("declined"),
            Kind::TIMED_OUT => f.write_str("timed out"),
            Kind::CHOICE => f.write_str("choice"),
            Kind::OUTSIDE => f.write_str("outside"),
            Kind::TAKE_AFTER_LOOKS => f.write_str("take after looks"),
            Kind(code) => write!(f, "kind {code:#04x}"),
        }
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// What the trace keeps of an operation that did not go as predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// How many operations of the activity were as predicted since its last event.
    pub silent: u32,
    /// What happened.
    pub kind: Kind,
    /// How it went.
    pub number: u64,
    /// The second number of the kinds that have one, 0 for the others.
    pub second: u64,
}

/// What an activity's stream consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// An operation that did not go as predicted.
    Event(Event),
    /// A check: after `silent` more predicted operations the activity's hash was this.
    Tick {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far.
        hash: u32,
    },
    /// The activity's own code came to its end here.
    End {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far.
        hash: u32,
    },
    /// The end of what there is. Unless the activity has ended before, this is where the process exited or was killed,
    /// or recording stopped. `hash` is missing when the kill fell between an event and the counting of it, when the
    /// activity had nothing more to count, and in a damaged trace.
    Cut {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far, if known.
        hash: Option<u32>,
    },
}

impl Item {
    /// How many operations of the activity it stands for.
    pub(crate) fn operations(&self) -> u64 {
        match *self {
            Item::Event(event) => u64::from(event.silent) + 1,
            Item::Tick { silent, .. } | Item::End { silent, .. } | Item::Cut { silent, .. } => {
                silent.into()
            }
        }
    }
}

/// What the bytes of a chunk can hold beside the items of one activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw<'a> {
    Item(Item),
    /// From here on the chunk speaks of this activity, which is at this position.
    Switch {
        activity: u32,
        position: u64,
    },
    /// The first thing in the stream of every activity: where it comes from.
    Start {
        origin: u64,
        index: u64,
        name: &'a [u8],
    },
}

const COMPACT: u8 = 0x80;
const COMPACT_LOOK: u8 = 0x40;
const SWITCH: u8 = 0x60;
const START: u8 = 0x61;
const TICK: u8 = 0x62;
const END: u8 = 0x63;

/// Longest name that a start carries; longer ones are cut.
pub(crate) const MAX_NAME: usize = 64;
/// Nothing that is appended at once is longer than this: a start with its switch.
pub(crate) const MAX_ENCODED: usize = 2 * (1 + 3 * 10) + MAX_NAME;

/// Bytes on their way into a chunk: a cursor into a buffer that the caller has made large enough.
pub(crate) struct Encoder<'a> {
    buffer: &'a mut [u8],
    used: usize,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(buffer: &'a mut [u8]) -> Self {
        Encoder { buffer, used: 0 }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.buffer[self.used] = byte;
        self.used += 1;
    }

    #[inline]
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    fn hash(&mut self, hash: u32) {
        for byte in hash.to_le_bytes() {
            self.byte(byte);
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, event: &Event) {
        let compact = match event.kind {
            Kind::TAKE => Some(COMPACT),
            Kind::LOOK => Some(COMPACT | COMPACT_LOOK),
            _ => None,
        };
        if let Some(tag) = compact
            && event.silent < 4
            && event.number < 16
        {
            self.byte(tag | (event.silent as u8) << 4 | event.number as u8);
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
        self.hash(hash);
    }

    pub(crate) fn end(&mut self, silent: u32, hash: u32) {
        self.byte(END);
        self.number(silent.into());
        self.hash(hash);
    }

    pub(crate) fn switch(&mut self, activity: u32, position: u64) {
        self.byte(SWITCH);
        self.number(activity.into());
        self.number(position);
    }

    pub(crate) fn start(&mut self, origin: u64, index: u64, name: &[u8]) {
        let name = &name[..name.len().min(MAX_NAME)];
        self.byte(START);
        self.number(origin);
        self.number(index);
        self.number(name.len() as u64);
        for &byte in name {
            self.byte(byte);
        }
    }
}

/// Why bytes are not events: what is wrong with them.
pub(crate) type Malformed = &'static str;

/// Takes one entry off the front of `bytes`.
pub(crate) fn decode<'a>(bytes: &mut &'a [u8]) -> Result<Raw<'a>, Malformed> {
    let tag = take_byte(bytes)?;
    if tag & COMPACT != 0 {
        let kind = if tag & COMPACT_LOOK != 0 {
            Kind::LOOK
        } else {
            Kind::TAKE
        };
        return Ok(Raw::Item(Item::Event(Event {
            silent: u32::from(tag >> 4 & 3),
            kind,
            number: u64::from(tag & 15),
            second: 0,
        })));
    }
    if let Some(kind) = Kind::new(tag) {
        let silent = take_u32(bytes)?;
        let number = take_number(bytes)?;
        let second = if kind.has_two_numbers() {
            take_number(bytes)?
        } else {
            0
        };
        return Ok(Raw::Item(Item::Event(Event {
            silent,
            kind,
            number,
            second,
        })));
    }
    match tag {
        SWITCH => Ok(Raw::Switch {
            activity: take_u32(bytes)?,
            position: take_number(bytes)?,
        }),
        START => {
            let origin = take_number(bytes)?;
            let index = take_number(bytes)?;
            let length = take_number(bytes)? as usize;
            if length > MAX_NAME {
                return Err("a name longer than names can be");
            }
            Ok(Raw::Start {
                origin,
                index,
                name: take(bytes, length)?,
            })
        }
        TICK => Ok(Raw::Item(Item::Tick {
            silent: take_u32(bytes)?,
            hash: take_hash(bytes)?,
        })),
        END => Ok(Raw::Item(Item::End {
            silent: take_u32(bytes)?,
            hash: take_hash(bytes)?,
        })),
        _ => Err("an unknown kind of entry"),
    }
}

const SHORT: Malformed = "an entry that is cut short";

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (head, rest) = bytes.split_at_checked(length).ok_or(SHORT)?;
    *bytes = rest;
    Ok(head)
}

fn take_byte(bytes: &mut &[u8]) -> Result<u8, Malformed> {
    let (&first, rest) = bytes.split_first().ok_or(SHORT)?;
    *bytes = rest;
    Ok(first)
}

fn take_hash(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    let head = take(bytes, 4)?;
    Ok(u32::from_le_bytes(head.try_into().expect("four bytes")))
}

fn take_number(bytes: &mut &[u8]) -> Result<u64, Malformed> {
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

fn take_u32(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    u32::try_from(take_number(bytes)?).map_err(|_| "a number larger than 32 bits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![
            Just(Kind::TAKE),
            Just(Kind::LOOK),
            Just(Kind::TAKE_AFTER_LOOKS),
            (1..0x60u8).prop_map(|code| Kind::new(code).unwrap()),
        ]
    }

    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![0..20u64, 100..20_000u64, any::<u64>()]
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(kind in kinds(), silent in prop_oneof![0..6u32, any::<u32>()], number in numbers(), second in numbers()) {
            let event = Event { silent, kind, number, second: if kind.has_two_numbers() { second } else { 0 } };
            let mut buffer = [0; MAX_ENCODED];
            let mut encoder = Encoder::new(&mut buffer);
            encoder.event(&event);
            let used = encoder.used();
            let mut bytes = &buffer[..used];
            prop_assert_eq!(decode(&mut bytes), Ok(Raw::Item(Item::Event(event))));
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && decode(&mut rest).is_ok() {}
        }
    }

    #[test]
    fn a_hand_over_between_two_threads_is_one_byte() {
        let mut buffer = [0; MAX_ENCODED];
        let mut encoder = Encoder::new(&mut buffer);
        encoder.event(&Event {
            silent: 1,
            kind: Kind::TAKE,
            number: 2,
            second: 0,
        });
        assert_eq!(encoder.used(), 1);
    }
}
