//! Whose message comes next: the prediction that recording and replay make alike.
//!
//! After a message of one sender comes one of the sender that followed it last time; if it is the first time, one of the
//! same sender. Actors that answer their clients in turn are predicted perfectly by that, and so is whoever has one
//! partner. Where senders that were never seen before come one after the other in the order of their numbers, as children do
//! that report to the one who collects, the next one in that order is expected. A sender that was seen before is named by its place in the order of first appearance, which is a small number.
//!
//! Some messages are told apart by more than their sender. A *numbered* message has a number too: a continuation is the
//! n-th that its actor registered, a message that went through a promise the n-th that its sender sent that way. Each is
//! predicted to be the one after the last that came from there.

use std::collections::HashMap;

/// Where a message comes from, as far as order goes: a sender's token, with [`NUMBERED`] if that alone does not tell.
pub(crate) type Source = u32;

/// Bit of a source whose messages have numbers.
pub const NUMBERED: u32 = 1 << 31;
/// The source of an actor's own continuations.
pub(crate) const CONTINUATION: Source = NUMBERED;

/// A message that arrives: where it comes from, and its number, 0 if it has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Arrival {
    pub(crate) source: Source,
    pub(crate) number: u64,
}

impl Arrival {
    /// A message from a sender whose messages come in the order in which they were sent.
    pub(crate) const fn from(source: Source) -> Arrival {
        Arrival { source, number: 0 }
    }
}

/// A source by the name that an event has for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Name {
    /// The n-th one that was seen.
    Known(u32),
    /// This one, which was not seen before.
    Newcomer(Source),
}

impl Name {
    /// As one number.
    pub(crate) fn code(self) -> u64 {
        match self {
            Name::Known(place) => u64::from(place) << 1,
            Name::Newcomer(source) => u64::from(source) << 1 | 1,
        }
    }

    pub(crate) fn from_code(code: u64) -> Option<Name> {
        let value = u32::try_from(code >> 1).ok()?;
        Some(match code & 1 {
            0 => Name::Known(value),
            _ => Name::Newcomer(value),
        })
    }
}

/// The sources that an activity has had messages from, and which followed which.
pub(crate) struct Arrivals {
    known: Vec<Known>,
    places: HashMap<Source, u32, BuildMixer>,
    /// The one that was last.
    last: u32,
    /// What is expected next.
    predicted: Arrival,
    /// The last one that was new.
    newest: Source,
    /// Whether it came right after its neighbour, which was new then.
    in_a_row: bool,
}

#[derive(Clone, Copy)]
struct Known {
    source: Source,
    /// Who came after it last time.
    follower: u32,
    /// The number that its next message is expected to have.
    number: u64,
}

/// So many sources are remembered; then all but the last are forgotten.
const MOST: usize = 1024;

impl Arrivals {
    /// Of an activity that has had nothing yet, and is expected to hear from `first`.
    pub(crate) fn new(first: Source) -> Arrivals {
        let mut arrivals = Arrivals {
            known: Vec::new(),
            places: HashMap::default(),
            last: 0,
            predicted: Arrival::from(first),
            newest: CONTINUATION,
            in_a_row: false,
        };
        arrivals.add(first);
        arrivals
    }

    fn add(&mut self, source: Source) -> u32 {
        let place = self.known.len() as u32;
        self.known.push(Known {
            source,
            follower: place,
            number: 0,
        });
        self.places.insert(source, place);
        place
    }

    /// What is expected next.
    #[inline]
    pub(crate) fn predicted(&self) -> Arrival {
        self.predicted
    }

    /// Whether one from where the last one came from is expected, and nothing changes if it comes.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.predicted.source == self.known[self.last as usize].source
            && self.predicted.source & NUMBERED == 0
    }

    /// Makes the prediction, after something has come.
    #[inline]
    fn predict(&mut self) {
        let last = self.known[self.last as usize];
        self.predicted = if last.follower != self.last {
            let next = self.known[last.follower as usize];
            Arrival {
                source: next.source,
                number: next.number,
            }
        } else if self.in_a_row && last.source == self.newest {
            Arrival::from(last.source + 1)
        } else {
            Arrival {
                source: last.source,
                number: last.number,
            }
        };
    }

    /// The number that the next message from there is expected to have.
    pub(crate) fn number_from(&self, source: Source) -> u64 {
        match self.places.get(&source) {
            Some(&place) => self.known[place as usize].number,
            None => 0,
        }
    }

    /// What an event calls the source.
    pub(crate) fn name(&self, source: Source) -> Name {
        match self.places.get(&source) {
            Some(&place) => Name::Known(place),
            None => Name::Newcomer(source),
        }
    }

    /// The source that an event has this name for.
    pub(crate) fn source(&self, name: Name) -> Option<Source> {
        match name {
            Name::Known(place) => self.known.get(place as usize).map(|known| known.source),
            Name::Newcomer(source) => Some(source),
        }
    }

    /// What was predicted has come.
    #[inline]
    pub(crate) fn as_predicted(&mut self) {
        let follower = self.known[self.last as usize].follower;
        let known = &mut self.known[follower as usize];
        if known.source != self.predicted.source {
            self.came(self.predicted);
            return;
        }
        if known.source & NUMBERED != 0 {
            known.number += 1;
        }
        self.last = follower;
        self.predict();
    }

    /// This has come.
    pub(crate) fn came(&mut self, arrival: Arrival) {
        let place = match self.places.get(&arrival.source) {
            Some(&place) => {
                self.in_a_row = false;
                place
            }
            None => {
                if self.known.len() >= MOST {
                    self.forget();
                }
                let after_neighbour = self.known[self.last as usize].source == self.newest
                    && arrival.source == self.newest.wrapping_add(1)
                    && arrival.source & NUMBERED == 0;
                self.in_a_row = after_neighbour;
                self.newest = arrival.source;
                self.add(arrival.source)
            }
        };
        if arrival.source & NUMBERED != 0 {
            self.known[place as usize].number = arrival.number + 1;
        }
        self.known[self.last as usize].follower = place;
        self.last = place;
        self.predict();
    }

    /// Forgets all sources but the last, and those whose numbers would begin anew.
    fn forget(&mut self) {
        let last = self.known[self.last as usize].source;
        let kept = std::mem::take(&mut self.known);
        self.places.clear();
        for known in kept {
            if known.source == last || known.source == CONTINUATION {
                let place = self.add(known.source);
                self.known[place as usize].number = known.number;
            }
        }
        self.last = self.places[&last];
    }
}

/// Hashes one small number: what `HashMap` does by default is for keys that an enemy may choose.
#[derive(Default, Clone, Copy)]
struct BuildMixer;

impl std::hash::BuildHasher for BuildMixer {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(0)
    }
}

struct Mixer(u64);

impl std::hash::Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, value: u32) {
        let mixed = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprises(sources: &[Source]) -> usize {
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
    fn children_that_report_in_order_surprise_only_at_first() {
        let children: Vec<Source> = (100..5000).collect();
        assert_eq!(surprises(&children), 2);
    }

    #[test]
    fn as_predicted_is_the_same_as_having_come() {
        let mut told = Arrivals::new(1);
        let mut silent = Arrivals::new(1);
        for round in 0..50 {
            for source in [1, 7, CONTINUATION, 9 | NUMBERED] {
                let number = if source & NUMBERED == 0 { 0 } else { round };
                let arrival = Arrival { source, number };
                assert_eq!(told.predicted(), silent.predicted());
                if silent.predicted() == arrival {
                    silent.as_predicted();
                } else {
                    silent.came(arrival);
                }
                told.came(arrival);
            }
        }
        assert_eq!(told.predicted(), silent.predicted());
    }

    #[test]
    fn more_senders_than_are_remembered() {
        let mut arrivals = Arrivals::new(1);
        for source in 1..10_000 {
            arrivals.came(Arrival::from(source));
            assert!(arrivals.known.len() <= MOST);
        }
    }
}
