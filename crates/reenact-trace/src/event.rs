//! Events: what the trace keeps of operations that did not go as predicted.
//!
//! An event says: since the last one, `silent` operations of this activity went as predicted; the next one did
//! not, it is of this kind and its outcome is this number. The kinds that dominate real traces, taking an entity,
//! looking at it and receiving a message, fit in one or two bytes together with small numbers:
//!
//! ```text
//! 1 L S S N N N N              L: 0 take, 1 look   S: silent 0–3   N: number 0–15
//! 0 0 1 S N N N N  NNNNNNNN    receive             S: silent 0–1   N: number 0–4095
//! 0 K K K K K K K              kind K, then silent and number(s) as LEB128
//! ```
//!
//! Kinds below 0x20 carry one number, those from 0x40 on two; from 0x60 on they are the trace's own (start, switch,
//! tick, end, run of quiet ends).

/// What an event is about. Models choose numbers; the trace only stores them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(pub(crate) u8);

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
    /// A message of another sender than predicted came next; the number says whose.
    pub const RECEIVE: Kind = Kind(0x07);
    /// A reading of the clock that only goes forward; the number is how far it is from the activity's last reading of it,
    /// zigzag.
    pub const CLOCK: Kind = Kind(0x08);
    /// A value that was kept out of the trace on request.
    pub const WITHHELD: Kind = Kind(0x09);
    /// The same of the time of day.
    pub const TIME: Kind = Kind(0x0a);
    /// Random bytes; the number is the id of their data.
    pub const RANDOM: Kind = Kind(0x0b);
    /// Took the entity after others had looked at it; the second number says how often.
    pub const TAKE_AFTER_LOOKS: Kind = Kind(0x41);
    /// A numbered message came next that is not the one after the last from there; the numbers say whose, and how far ahead.
    pub const PIPELINED: Kind = Kind(0x42);
    /// Numbers for the activity's next children: the first, and how many. The trace itself knows from it who is whose
    /// child, so these have no need to say it.
    pub const CHILDREN: Kind = Kind(0x43);
    /// An answer from outside, a number, and a check of what was asked.
    pub const ANSWER: Kind = Kind(0x44);
    /// An answer from outside: the id of its data ([`Appender::data`](crate::Appender::data)), and a check of what was
    /// asked.
    pub const DATA: Kind = Kind(0x45);

    const FIRST_OF_TWO: u8 = 0x40;

    /// A kind for events of a model: one number from 0x01 to 0x1f, two from 0x40 to 0x5f, `None` for what is reserved.
    pub const fn new(code: u8) -> Option<Kind> {
        match code {
            0x01..=0x1f | 0x40..=0x5f => Some(Kind(code)),
            _ => None,
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
            Kind::RECEIVE => f.write_str("receive"),
            Kind::CLOCK => f.write_str("clock"),
            Kind::WITHHELD => f.write_str("withheld"),
            Kind::TIME => f.write_str("time"),
            Kind::RANDOM => f.write_str("random"),
            Kind::TAKE_AFTER_LOOKS => f.write_str("take after looks"),
            Kind::PIPELINED => f.write_str("pipelined"),
            Kind::CHILDREN => f.write_str("children"),
            Kind::ANSWER => f.write_str("answer"),
            Kind::DATA => f.write_str("data"),
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
