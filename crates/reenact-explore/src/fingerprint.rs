//! The identity of a universe that cannot be inspected: the events before it, in happens-before order.
//!
//! The hash of an event covers its activity, its number among the activity's events, what it did, its choice, and the
//! hashes of the events it is ordered after. The hash of a universe is the sum over its events, so it does not depend
//! on the order of unordered events. Two schedules with the same fingerprint lead to the same universe, as long as the
//! program is deterministic outside of its operations.
//!
//! It has 128 bits, because universes are distinguished by nothing else: among a billion universes, a 64-bit hash would
//! collide with a probability of 3 %.

use std::{
    fmt,
    hash::{BuildHasher, Hash, Hasher},
};

use foldhash::quality::{FixedState, FoldHasher};

use super::{Links, Moment, Step};
use crate::Activity;

/// An arbitrary odd number without a pattern.
const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A hash of everything that happened in a run up to some point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

impl Fingerprint {
    /// Distinguishes the same universe by the activity that continues it.
    pub(super) fn with(self, activity: Option<Activity>) -> Fingerprint {
        let other = activity.map_or(0, |activity| u128::from(activity.0) + 1);
        Fingerprint(self.0.wrapping_add(other.wrapping_mul(ODD)))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

/// Computes the fingerprint of a run incrementally.
#[derive(Clone, Debug, Default)]
pub struct Fingerprinter {
    /// The hash of each event, by moment.
    events: Vec<u128>,
    /// The number of events of each activity, and the hash of its last event.
    last: Vec<(u32, u128)>,
    sum: u128,
}

impl Fingerprinter {
    /// Resets to no events.
    pub fn clear(&mut self) {
        self.events.clear();
        self.last.clear();
        self.sum = 0;
    }

    /// The moment of the next event.
    pub fn next(&self) -> Moment {
        Moment(u32::try_from(self.events.len()).expect("fewer than 2^32 events"))
    }

    /// Adds the event at [`next`](Fingerprinter::next), with its links.
    pub fn push(&mut self, step: Step, event: &impl Hash, links: &Links) {
        let slot = step.activity.0 as usize;
        if self.last.len() <= slot {
            self.last.resize(slot + 1, (0, 0));
        }
        let (number, previous) = &mut self.last[slot];
        *number += 1;
        // The order of the links depends on the schedule and must not affect the hash.
        let before = links
            .as_slice()
            .iter()
            .filter_map(|link| link.before())
            .map(|before| self.events[before.index()])
            .fold(0, u128::wrapping_add);
        let mut hasher = Both::default();
        (step, *number, *previous, before).hash(&mut hasher);
        event.hash(&mut hasher);
        let hash = hasher.finish_both();
        *previous = hash;
        self.events.push(hash);
        self.sum = self.sum.wrapping_add(hash);
    }

    /// The fingerprint of the events so far.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.sum)
    }
}

/// Computes two hashes at once.
struct Both<'a>(FoldHasher<'a>, FoldHasher<'a>);

impl Default for Both<'_> {
    fn default() -> Self {
        let hasher = |seed| FixedState::with_seed(seed).build_hasher();
        Both(hasher(1), hasher(2))
    }
}

impl Both<'_> {
    fn finish_both(&self) -> u128 {
        u128::from(self.0.finish()) << 64 | u128::from(self.1.finish())
    }
}

macro_rules! forward {
    ($($write:ident: $type:ty),*) => {
        $(
            #[inline]
            fn $write(&mut self, value: $type) {
                self.0.$write(value);
                self.1.$write(value);
            }
        )*
    };
}

impl Hasher for Both<'_> {
    forward!(
        write: &[u8], write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize
    );

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}
