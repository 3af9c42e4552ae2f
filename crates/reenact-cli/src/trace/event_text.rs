//! Describes events as text.

use std::time::Duration;

use reenact_trace::{ActivityInfo, Event, Kind, Trace, printable};

use crate::report;

/// What is needed to describe the events of an activity.
pub(super) struct EventText<'a> {
    trace: &'a Trace,
    number: u32,
    with_sender: bool,
}

impl<'a> EventText<'a> {
    pub(super) fn new(trace: &'a Trace, info: &ActivityInfo) -> EventText<'a> {
        EventText {
            trace,
            number: info.number,
            with_sender: super::with_sender(trace.program()),
        }
    }

    pub(super) fn describe(&self, event: Event) -> String {
        let Event {
            kind,
            number,
            second,
            ..
        } = event;
        match kind {
            Kind::RECEIVE => format!("receives {}", self.message_from(number)),
            Kind::PIPELINED => {
                format!(
                    "receives {}, {}",
                    self.message_from(number),
                    out_of_order(second)
                )
            }
            Kind::CHILDREN if second == 1 => {
                format!("reserves the number {number} for the next actor it creates")
            }
            Kind::CHILDREN => {
                let last = number.saturating_add(second.saturating_sub(1));
                format!(
                    "reserves the numbers {number} to {last} for the next actors or processes it creates"
                )
            }
            Kind::CLOCK => format!("reads the clock, {}", elapsed(number)),
            Kind::TIME => format!("reads the time of day, {}", elapsed(number)),
            Kind::RANDOM => match self.trace.data(number) {
                Ok(data) => format!("gets {} at random", bytes(data.len() as u64)),
                Err(_) => "gets random bytes that are missing".to_owned(),
            },
            Kind::WAITED if number == 0 => "has waited in the kernel".to_owned(),
            Kind::WAITED => "has waited in the kernel until a time limit".to_owned(),
            Kind::OUTSIDE => format!("gets {number} from outside"),
            Kind::ANSWER => format!("gets {number} from outside, about {}", bytes(second >> 32)),
            Kind::DATA => match (self.trace.data(number), second >> 32) {
                (Ok(data), 0) => format!("gets {} from outside", bytes(data.len() as u64)),
                (Ok(data), asked) => format!(
                    "gets {} from outside, about {}",
                    bytes(data.len() as u64),
                    bytes(asked)
                ),
                (Err(_), _) => "gets something from outside that is missing".to_owned(),
            },
            Kind::PRINTED => match self.trace.data(second) {
                Ok(text) => format!(
                    "prints {:?} {}",
                    String::from_utf8_lossy(&text),
                    printed(number)
                ),
                Err(_) => format!("prints text that is missing {}", printed(number)),
            },
            Kind::PRINTED_HASH => {
                format!("prints {} {}", bytes(second >> 28), printed(number))
            }
            Kind::WRITTEN if number & 1 == 1 => {
                format!(
                    "cannot print: {}",
                    std::io::Error::from_raw_os_error((number >> 1) as i32)
                )
            }
            Kind::WRITTEN => format!("prints no more than {} at first", bytes(number >> 1)),
            Kind::WITHHELD => "gets something from outside that was withheld".to_owned(),
            kind if kind.has_two_numbers() => format!("{kind} {number} {second}"),
            kind => format!("{kind} {number}"),
        }
    }

    /// Describes the sender of a message. A sender is encoded as the distance of its number from the receiver's, and
    /// whether its messages are numbered. The receiver's own number stands for its continuations, and for all senders
    /// if senders record.
    fn message_from(&self, name: u64) -> String {
        let distance = name >> 2 ^ (name >> 1 & 1).wrapping_neg();
        let is_numbered = name & 1 == 1;
        let sender = match u32::try_from(u64::from(self.number).wrapping_add(distance)) {
            Ok(number) => self.trace.family_name(number),
            // The number before the first stands for the receiver itself, since distance 0 is taken.
            Err(_) => self.trace.family_name(self.number),
        };
        let sender = printable(&sender);
        match (is_numbered, distance) {
            (true, 0) => "a continuation of its own".to_owned(),
            (true, _) => format!("a message that {sender} sent to a promise"),
            (false, 0) if self.with_sender => {
                "a message whose position its sender recorded".to_owned()
            }
            (false, _) => format!("a message from {sender}"),
        }
    }
}

fn bytes(count: u64) -> String {
    report::counted(count, "byte", "bytes")
}

/// Describes where text was printed. The engine encodes the stream in the lowest bit.
fn printed(number: u64) -> String {
    let stream = match number & 1 {
        0 => "standard output",
        _ => "standard error",
    };
    match number >> 1 {
        0 => format!("to {stream}"),
        others => format!(
            "to {stream}, after {} of others",
            report::counted(others, "write", "writes")
        ),
    }
}

/// Describes how much later or earlier a reading of a clock is than the last one. The engine encodes the difference
/// with zigzag.
fn elapsed(number: u64) -> String {
    let nanoseconds = (number >> 1 ^ (number & 1).wrapping_neg()) as i64;
    let time = Duration::from_nanos(nanoseconds.unsigned_abs());
    let way = if nanoseconds < 0 { "earlier" } else { "later" };
    format!("{time:?} {way} than before")
}

/// Describes the distance of a message from the one that was next in its sender's order. In the engine's encoding, even
/// numbers are ahead and odd ones behind.
fn out_of_order(distance: u64) -> String {
    let behind = distance & 1;
    let far = (distance >> 1).wrapping_add(behind);
    let way = if behind == 1 { "behind" } else { "ahead of" };
    format!("{far} {way} the one that was next")
}
