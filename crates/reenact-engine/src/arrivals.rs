//! Predicts the sender of the next message, for recording and replay alike.
//!
//! After a message of one sender, the prediction is the sender that followed it last time. The first time, it is the
//! same sender; or, after two senders with consecutive numbers, as of children that report to a collector, the one with
//! the next number. Actors that answer their clients in turn are predicted perfectly, and so is an actor with a single
//! partner.
//!
//! The followers are kept in a small table that forgets, because an actor with a thousand partners in no particular
//! order must not have a thousand entries; recording and replay forget alike.
//!
//! Some messages are not identified by their sender alone. A *numbered* message has a number too: a continuation is the
//! n-th that its actor registered, a message that went through a promise the n-th that its sender sent that way. Each
//! is predicted to be the one after the last that came from there.

use serde::{Deserialize, Serialize};

use crate::Map;

/// Where a message comes from, as far as order matters: a sender's token, with [`NUMBERED`] if that alone does not
/// identify it.
pub(crate) type SourceId = u32;

/// Bit of a source whose messages have numbers.
pub const NUMBERED: u32 = 1 << 31;
/// The source of all messages whose senders record them.
pub(crate) const DIRECT: SourceId = NUMBERED - 1;
/// The source of an actor's own continuations.
pub(crate) const CONTINUATION: SourceId = NUMBERED;

/// A message that arrives: its source, and its number, 0 if it has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Arrival {
    pub(crate) source: SourceId,
    pub(crate) number: u64,
}

impl Arrival {
    /// Not a message: the activity finds that its pool has been closed. Encoded as a continuation whose number no real
    /// one has.
    pub const CLOSING: Arrival = Arrival {
        source: CONTINUATION,
        number: u64::MAX - 1,
    };

    /// Returns the sender, where it is known: not of an actor's own continuations, nor where messages have positions.
    pub fn sender(&self) -> Option<u32> {
        match self.source & !NUMBERED {
            0 | DIRECT => None,
            token => Some(token - 1),
        }
    }

    /// Returns whether it is identified by more than its sender.
    pub(crate) fn is_numbered(self) -> bool {
        self.source & NUMBERED != 0
    }

    /// Returns a text that identifies it in a log among the messages of the same receiver. `name` returns the name of
    /// an activity.
    pub(crate) fn key(self, name: impl Fn(u32) -> String) -> String {
        let Arrival { source, number } = self;
        let sender = || name((source & !NUMBERED).saturating_sub(1));
        match source {
            CONTINUATION => format!("+:{number}"),
            _ if source == DIRECT | NUMBERED => Arrival::key_of_position(number),
            _ if self.is_numbered() => format!("{}:{number}", sender()),
            _ => sender(),
        }
    }

    /// Like [`Arrival::key`], for a message whose sender recorded its position.
    pub(crate) fn key_of_position(position: u64) -> String {
        format!("#:{position}")
    }

    /// A message of a sender whose messages arrive in the order in which they were sent.
    pub(crate) const fn from(source: SourceId) -> Arrival {
        Arrival { source, number: 0 }
    }
}

/// Which sender followed which.
pub(crate) struct Arrivals {
    /// A power of two, direct-mapped by source.
    followers: Box<[Follower]>,
    last: SourceId,
    before_last: SourceId,
    predicted: Arrival,
    /// The number of the next continuation.
    continuations: u64,
    /// The next expected number for each sender to promises.
    pipelined: Map<SourceId, u64>,
}

/// The source that followed another one last time. An empty entry has source 0, which is not a valid source.
#[derive(Clone, Copy, Default)]
struct Follower {
    of: SourceId,
    is: SourceId,
}

/// The initial and maximum size of the table.
const PLACES: (usize, usize) = (4, 128);
/// The maximum number of entries; when it is exceeded, all are forgotten.
const MOST_PIPELINED: usize = 1024;

impl Arrivals {
    /// For an activity that has only had messages from `first`, if any.
    pub(crate) fn new(first: SourceId) -> Arrivals {
        let mut arrivals = Arrivals {
            followers: vec![Follower::default(); PLACES.0].into(),
            last: first,
            before_last: first,
            predicted: Arrival::from(first),
            continuations: 0,
            pipelined: Map::default(),
        };
        arrivals.follow(first, first);
        arrivals
    }

    /// Returns what is expected next.
    #[inline]
    pub(crate) fn predicted(&self) -> Arrival {
        self.predicted
    }

    /// Returns whether the same source is expected again, and another message from it would change nothing.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.predicted.source == self.last
            && self.before_last == self.last
            && self.last & NUMBERED == 0
    }

    /// Returns the number that the next message from there is expected to have.
    pub(crate) fn number_from(&self, source: SourceId) -> u64 {
        match source {
            CONTINUATION => self.continuations,
            _ if source & NUMBERED == 0 => 0,
            _ => self.pipelined.get(&source).copied().unwrap_or(0),
        }
    }

    /// Notes an arrival, predicted or not.
    #[inline]
    pub(crate) fn came(&mut self, arrival: Arrival) {
        let source = arrival.source;
        if source & NUMBERED != 0 {
            self.numbered(arrival);
        }
        self.follow(self.last, source);
        self.before_last = self.last;
        self.last = source;
        self.predict();
    }

    #[inline]
    fn predict(&mut self) {
        let follower = self.followers[self.place(self.last)];
        let source = if follower.of == self.last {
            follower.is
        } else if self.last == self.before_last + 1 && self.before_last & NUMBERED == 0 {
            self.last + 1
        } else {
            self.last
        };
        let number = if source & NUMBERED == 0 {
            0
        } else {
            self.number_from(source)
        };
        self.predicted = Arrival { source, number };
    }

    #[inline]
    fn place(&self, source: SourceId) -> usize {
        // Siblings have consecutive numbers, and so do not collide.
        (source ^ source >> 9 ^ source >> 31) as usize & (self.followers.len() - 1)
    }

    #[inline]
    fn follow(&mut self, of: SourceId, is: SourceId) {
        let place = self.place(of);
        let there = self.followers[place].of;
        if there != of && there != 0 && self.followers.len() < PLACES.1 {
            self.grow();
            return self.follow(of, is);
        }
        self.followers[place] = Follower { of, is };
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Follower::default(); self.followers.len() * 2].into();
        for follower in std::mem::replace(&mut self.followers, larger) {
            if follower.of != 0 {
                let place = self.place(follower.of);
                self.followers[place] = follower;
            }
        }
    }

    fn numbered(&mut self, arrival: Arrival) {
        let next = arrival.number.wrapping_add(1);
        if arrival.source == CONTINUATION {
            self.continuations = next;
            return;
        }
        if self.pipelined.len() >= MOST_PIPELINED && !self.pipelined.contains_key(&arrival.source) {
            self.pipelined.clear();
        }
        self.pipelined.insert(arrival.source, next);
    }
}

/// Encodes a source in an event: as the distance of its activity's number from that of the receiver, since activities
/// that were created together often communicate; and whether it is numbered. The receiver's own token, which would
/// rarely occur, stands for other cases: with a number for its continuations, and where senders record, without one for
/// all senders.
pub(crate) fn name_of(source: SourceId, own: SourceId) -> u64 {
    let token = source & !NUMBERED;
    let token = match source & NUMBERED {
        0 if token == DIRECT => own,
        0 => token,
        _ if token == 0 => own,
        _ if token == own => 0,
        _ => token,
    };
    let distance = i64::from(token) - i64::from(own);
    zigzag(distance as u64) << 1 | u64::from(source >> 31)
}

/// Decodes what [`name_of`] encoded; none if it is not valid.
pub(crate) fn source_of(name: u64, own: SourceId, with_sender: bool) -> Option<SourceId> {
    let token = u32::try_from(u64::from(own).wrapping_add(unzigzag(name >> 1))).ok()?;
    if token & NUMBERED != 0 {
        return None;
    }
    Some(match name & 1 {
        0 if token == own && with_sender => DIRECT,
        0 => token,
        _ if token == own => CONTINUATION,
        _ if token == 0 => own | NUMBERED,
        _ => token | NUMBERED,
    })
}

/// Encodes small differences, positive or negative, as small numbers.
pub(crate) fn zigzag(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64 >> 63) as u64)
}

/// Decodes what [`zigzag`] encoded.
pub(crate) fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprises(sources: &[SourceId]) -> usize {
        let mut arrivals = Arrivals::new(1);
        sources
            .iter()
            .filter(|&&source| {
                let arrival = Arrival::from(source);
                let surprise = arrivals.predicted() != arrival;
                arrivals.came(arrival);
                surprise
            })
            .count()
    }

    #[test]
    fn one_sender_is_no_surprise() {
        assert_eq!(surprises(&[1; 10]), 0);
    }

    #[test]
    fn senders_in_turn_surprise_only_the_first_time() {
        let rounds = [1, 9, 5].repeat(100);
        assert_eq!(surprises(&rounds), 3);
    }

    #[test]
    fn a_hundred_senders_in_turn_surprise_hardly_more_than_the_first_time() {
        let round: Vec<SourceId> = (0..100).map(|n| 10 + n * 37 % 101).collect();
        assert!(surprises(&round.repeat(100)) < 2 * round.len());
    }

    #[test]
    fn children_that_report_in_order_surprise_only_at_first() {
        let children: Vec<SourceId> = (100..5000).collect();
        assert_eq!(surprises(&children), 2);
    }

    #[test]
    fn one_that_is_settled_changes_nothing() {
        let mut arrivals = Arrivals::new(1);
        for source in [1, 4, 4, 4] {
            arrivals.came(Arrival::from(source));
        }
        assert!(arrivals.is_settled());
        arrivals.came(Arrival::from(4));
        assert!(arrivals.is_settled());
        assert_eq!(arrivals.predicted(), Arrival::from(4));
    }

    #[test]
    fn a_name_leads_back_to_its_source() {
        for own in [1, 5, 70_000] {
            for token in [1, 2, 5, 6, 700, 70_000, 1 << 30] {
                for source in [token, token | NUMBERED, CONTINUATION] {
                    let name = name_of(source, own);
                    assert_eq!(
                        source_of(name, own, false),
                        Some(source),
                        "{source:#x} for {own}"
                    );
                }
            }
            assert_eq!(source_of(name_of(DIRECT, own), own, true), Some(DIRECT));
            assert_eq!(name_of(CONTINUATION, own), 1);
        }
        for name in [u64::MAX, u64::MAX - 1, 1 << 40] {
            assert_eq!(source_of(name, 7, false), None);
        }
    }

    #[test]
    fn numbered_ones_are_expected_in_order() {
        let mut arrivals = Arrivals::new(1);
        for number in 0..5 {
            arrivals.came(Arrival {
                source: CONTINUATION,
                number,
            });
        }
        assert_eq!(
            arrivals.predicted(),
            Arrival {
                source: CONTINUATION,
                number: 5
            }
        );
    }
}
