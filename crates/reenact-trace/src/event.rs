//! Events: what the trace contains of operations that did not go as predicted.
//!
//! An event says: since the last event, `silent` operations of this activity went as predicted; the next one did not,
//! it is of this kind and its outcome is this number. The kinds that dominate real traces (taking an object, looking at
//! it and receiving a message) fit in one or two bytes together with small numbers:
//!
//! ```text
//! 1 L S S N N N N              L: 0 take, 1 look   S: silent 0–3   N: number 0–15
//! 0 0 1 S N N N N  NNNNNNNN    receive             S: silent 0–1   N: number 0–4095
//! 0 K K K K K K K              kind K, then silent and number(s) as LEB128
//! ```
//!
//! Kinds below 0x20 carry one number, those from 0x40 on two; from 0x60 on they belong to the trace itself (start,
//! switch, tick, end, run of ends).

/// The kind of an event. Models choose the codes; the trace only stores them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub(crate) u8);

impl Kind {
    /// Took the object exclusively; the number is the position in the object's order.
    pub const TAKE: Kind = Kind(0x01);
    /// Looked at the object, shared with others; the number is the position it saw.
    pub const LOOK: Kind = Kind(0x02);
    /// Gave up at once: the object was not available.
    pub const DECLINED: Kind = Kind(0x03);
    /// A timed wait timed out and took the object again; the number is as for [`Kind::TAKE`].
    pub const TIMED_OUT: Kind = Kind(0x04);
    /// An answer that depends on timing, not on an object.
    pub const CHOICE: Kind = Kind(0x05);
    /// A number from outside the program.
    pub const OUTSIDE: Kind = Kind(0x06);
    /// A message from another sender than predicted was received; the number identifies the sender.
    pub const RECEIVE: Kind = Kind(0x07);
    /// A reading of the monotonic clock; the number is the zigzag-encoded difference from the activity's last reading
    /// of it.
    pub const CLOCK: Kind = Kind(0x08);
    /// A value that was kept out of the trace on request.
    pub const WITHHELD: Kind = Kind(0x09);
    /// A reading of the time of day; the number is as for [`Kind::CLOCK`].
    pub const TIME: Kind = Kind(0x0a);
    /// Random bytes; the number is the id of their data.
    pub const RANDOM: Kind = Kind(0x0b);
    /// A wait with a time limit that is not an operation, in a library for example, has ended; the number is 1 if it
    /// timed out, otherwise 0.
    pub const WAITED: Kind = Kind(0x0c);
    /// What became of a write to standard output or standard error that the system did not take as a whole: twice the
    /// number of bytes that it took, or twice the error number and one.
    pub const WRITTEN: Kind = Kind(0x0d);
    /// Took the object after others had looked at it; the second number says how often.
    pub const TAKE_AFTER_LOOKS: Kind = Kind(0x41);
    /// A numbered message was received that is not the next one of its sender; the numbers are the sender, and how far
    /// ahead the message is.
    pub const PIPELINED: Kind = Kind(0x42);
    /// Numbers for the activity's next children: the first, and how many. The trace derives from it whose children
    /// these are, so they do not record it themselves.
    pub const CHILDREN: Kind = Kind(0x43);
    /// An external answer: a number, and a check value of the request.
    pub const ANSWER: Kind = Kind(0x44);
    /// External data: their id ([`Appender::data`](crate::Appender::data)), and a check value of the request.
    pub const DATA: Kind = Kind(0x45);
    /// Text was printed. The first number is twice the number of writes of others to the same stream since this
    /// activity's last one, and one more on standard error; the second is the id of the text's data.
    pub const PRINTED: Kind = Kind(0x46);
    /// Text was printed that the trace does not have. The first number is as for [`Kind::PRINTED`]; the second is a
    /// hash in the lower 28 bits, and the length above.
    pub const PRINTED_HASH: Kind = Kind(0x47);

    const FIRST_OF_TWO: u8 = 0x40;

    /// Returns the kind with this code: with one number from 0x01 to 0x1f, with two from 0x40 to 0x5f, `None` for
    /// reserved codes.
    pub const fn new(code: u8) -> Option<Kind> {
        match code {
            0x01..=0x1f | 0x40..=0x5f => Some(Kind(code)),
            _ => None,
        }
    }

    /// Returns the code of the kind.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Returns whether events of this kind have a second number.
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
            Kind::RECEIVE => f.write_str("receive"),
            Kind::CLOCK => f.write_str("clock"),
            Kind::WITHHELD => f.write_str("withheld"),
            Kind::TIME => f.write_str("time"),
            Kind::RANDOM => f.write_str("random"),
            Kind::WAITED => f.write_str("waited"),
            Kind::WRITTEN => f.write_str("written"),
            Kind::TAKE_AFTER_LOOKS => f.write_str("take after looks"),
            Kind::PIPELINED => f.write_str("pipelined"),
            Kind::CHILDREN => f.write_str("children"),
            Kind::ANSWER => f.write_str("answer"),
            Kind::DATA => f.write_str("data"),
            Kind::PRINTED => f.write_str("printed"),
            Kind::PRINTED_HASH => f.write_str("printed hash"),
            Kind(code) => write!(f, "kind {code:#04x}"),
        }
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// An operation that did not go as predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// How many operations of the activity went as predicted since its last event.
    pub silent: u32,
    /// What happened.
    pub kind: Kind,
    /// The outcome.
    pub number: u64,
    /// The second number of kinds that have one, otherwise 0.
    pub second: u64,
}

/// An item of an activity's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// An operation that did not go as predicted.
    Event(Event),
    /// A checkpoint: after `silent` more predicted operations, the activity's hash was `hash`.
    Tick {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far.
        hash: u32,
    },
    /// The activity's own code ended here.
    End {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far.
        hash: u32,
    },
    /// The end of the stream. Unless the activity has ended before, the process exited or was killed here, or recording
    /// stopped. `hash` is missing if the process was killed between writing an event and counting it, if the activity
    /// had nothing more to count, and in a damaged trace.
    Cut {
        /// Predicted operations since the last item.
        silent: u32,
        /// The hash over all operations so far, if known.
        hash: Option<u32>,
    },
}

impl Item {
    /// How many operations of the activity the item stands for.
    pub(crate) fn operations(&self) -> u64 {
        match *self {
            Item::Event(event) => u64::from(event.silent) + 1,
            Item::Tick { silent, .. } | Item::End { silent, .. } | Item::Cut { silent, .. } => {
                silent.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_called_what_they_are() {
        for (code, name, two) in [
            (0x08, "clock", false),
            (0x09, "withheld", false),
            (0x44, "answer", true),
            (0x45, "data", true),
            (0x0a, "time", false),
            (0x0b, "random", false),
            (0x0c, "waited", false),
            (0x0d, "written", false),
            (0x46, "printed", true),
            (0x47, "printed hash", true),
            (0x1f, "kind 0x1f", false),
            (0x5f, "kind 0x5f", true),
        ] {
            let kind = Kind::new(code).unwrap();
            assert_eq!(
                (kind.to_string().as_str(), kind.has_two_numbers()),
                (name, two)
            );
        }
    }
}
