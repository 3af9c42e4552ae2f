//! What an event says, in words.
//!
//! Events about messages name senders in the shortest way: one that the actor has had before by its place in the order
//! of first appearance. So whoever reads them has to keep the same list. The engine forgets all but a few of more than a
//! thousand senders, and which it keeps depends on messages that are not in the trace; from there on a place is only a
//! number.

use reenact_trace::{ActivityInfo, Event, Kind, Origin, Trace};

/// What of an activity is needed to understand its events.
pub(super) struct Words<'a> {
    trace: &'a Trace,
    /// Where its messages came from, in the order of first appearance.
    known: Vec<u64>,
}

/// Bit of a source whose messages are told apart by numbers; alone, it is the activity itself.
const NUMBERED: u64 = 1 << 31;
/// The source of all messages that their senders recorded.
const DIRECT: u64 = NUMBERED - 1;
/// The engine remembers so many.
const MOST_KNOWN: usize = 1024;

impl<'a> Words<'a> {
    pub(super) fn new(trace: &'a Trace, info: &ActivityInfo) -> Words<'a> {
        let first = match info.origin {
            _ if super::with_sender(trace.program()) => DIRECT,
            // A source is one more than the number of an activity.
            Origin::Child(parent) => u64::from(parent) + 1,
            _ => 0,
        };
        Words {
            trace,
            known: vec![first],
        }
    }

    pub(super) fn describe(&mut self, event: Event) -> String {
        let Event {
            kind,
            number,
            second,
            ..
        } = event;
        match kind {
            Kind::RECEIVE => format!("receives {}", self.message_from_place(number)),
            Kind::NEWCOMER => {
                self.meet(number);
                format!("receives {}, for the first time", self.message_from(number))
            }
            Kind::PIPELINED => {
                let message = if number & 1 == 0 {
                    self.message_from_place(number >> 1)
                } else {
                    self.meet(number >> 1);
                    self.message_from(number >> 1)
                };
                format!("receives {message}, {}", out_of_order(second))
            }
            Kind::CHILDREN if second == 1 => {
                format!("has the number {number} for the next actor it makes")
            }
            Kind::CHILDREN => {
                let last = number.saturating_add(second.saturating_sub(1));
                format!("has the numbers {number} to {last} for the next actors it makes")
            }
            kind if kind.has_two_numbers() => format!("{kind} {number} {second}"),
            kind => format!("{kind} {number}"),
        }
    }

    fn meet(&mut self, source: u64) {
        // One more than the engine remembers: from then on, nothing is known.
        if self.known.len() <= MOST_KNOWN {
            self.known.push(source);
        }
    }

    fn message_from_place(&self, place: u64) -> String {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        match self.known.get(place) {
            Some(source) if self.known.len() <= MOST_KNOWN => self.message_from(*source),
            _ => format!("a message from sender {place} of those it remembers"),
        }
    }

    fn message_from(&self, source: u64) -> String {
        let sender = |source: u64| match u32::try_from(source.wrapping_sub(1)) {
            Ok(number) => self.trace.family_name(number),
            Err(_) => "nobody".to_owned(),
        };
        match source {
            NUMBERED => "a continuation of its own".to_owned(),
            DIRECT => "a message whose place its sender recorded".to_owned(),
            _ if source & NUMBERED == 0 => format!("a message from {}", sender(source)),
            _ => format!(
                "a message that {} sent to a promise",
                sender(source & !NUMBERED)
            ),
        }
    }
}

/// How far a message is from the one that was next in its sender's order: as the engine writes it, even numbers are
/// ahead and odd ones behind.
fn out_of_order(distance: u64) -> String {
    let behind = distance & 1;
    let far = (distance >> 1).wrapping_add(behind);
    let way = if behind == 1 { "behind" } else { "ahead of" };
    format!("{far} {way} the one that was next")
}
