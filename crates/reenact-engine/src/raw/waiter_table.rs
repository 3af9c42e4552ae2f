//! A table of those that wait, by the address of what they wait for.
//!
//! What activities wait at need not have room for a list of them: its address is the key, as in `parking_lot`. Tasks at
//! a lock, replayed activities at an object, and transactions at a variable are all in a table of this type. Each use
//! has its own way not to lose a wake-up; all of them rest on the fact that the waiters of an address are behind one
//! lock.

use std::{collections::BTreeMap, ops::RangeInclusive};

use crate::loom::{Mutex, MutexGuard, lock};

/// Waiters by address and rank. Which ones to wake, and how, is up to the user of the table.
///
/// A waiter's rank says who comes first at one address: the lowest rank, and of these the first that came. A million
/// may wait at one address.
pub struct WaiterTable<W> {
    buckets: [Mutex<Bucket<W>>; BUCKETS],
}

const BUCKETS: usize = 64;

struct Bucket<W> {
    waiters: BTreeMap<WaiterKey, W>,
    /// How many waiters have been added.
    added: u64,
}

/// Names one waiter in a [`WaiterTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WaiterKey {
    address: usize,
    rank: u64,
    /// How many waiters had been added to the bucket before.
    number: u64,
}

/// The waiters at one address, locked. Those at some other addresses are locked as well.
pub struct Waiters<'a, W> {
    bucket: MutexGuard<'a, Bucket<W>>,
    address: usize,
}

impl<W> Default for WaiterTable<W> {
    fn default() -> WaiterTable<W> {
        WaiterTable::new()
    }
}

impl<W> WaiterTable<W> {
    /// An empty table.
    pub const fn new() -> WaiterTable<W> {
        WaiterTable {
            buckets: [const {
                Mutex::new(Bucket {
                    waiters: BTreeMap::new(),
                    added: 0,
                })
            }; BUCKETS],
        }
    }

    /// Locks the waiters at this address.
    pub fn lock(&self, address: usize) -> Waiters<'_, W> {
        let index = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            >> (u64::BITS - BUCKETS.trailing_zeros());
        Waiters {
            bucket: lock(&self.buckets[index as usize]),
            address,
        }
    }

    /// Removes a waiter, unless it has been removed already.
    pub fn remove(&self, key: WaiterKey) -> Option<W> {
        self.lock(key.address).bucket.waiters.remove(&key)
    }
}

impl<W> Waiters<'_, W> {
    /// Adds a waiter.
    pub fn add(&mut self, rank: u64, waiter: W) -> WaiterKey {
        let key = WaiterKey {
            address: self.address,
            rank,
            number: self.bucket.added,
        };
        self.bucket.added += 1;
        self.bucket.waiters.insert(key, waiter);
        key
    }

    /// Returns the lowest rank.
    pub fn first_rank(&self) -> Option<u64> {
        let (first, _) = self.bucket.waiters.range(self.keys(0..=u64::MAX)).next()?;
        Some(first.rank)
    }

    /// Removes the first waiter.
    pub fn pop_first(&mut self) -> Option<W> {
        let (&first, _) = self.bucket.waiters.range(self.keys(0..=u64::MAX)).next()?;
        self.bucket.waiters.remove(&first)
    }

    /// Removes the waiters of these ranks for which `is_done` returns true, and returns them in their order.
    pub fn extract_if(
        &mut self,
        ranks: RangeInclusive<u64>,
        mut is_done: impl FnMut(&W) -> bool,
    ) -> Vec<W> {
        let keys = self.keys(ranks);
        let waiters = self
            .bucket
            .waiters
            .extract_if(keys, |_, waiter| is_done(waiter));
        waiters.map(|(_, waiter)| waiter).collect()
    }

    /// Removes all waiters, and returns them in their order.
    pub fn drain(&mut self) -> Vec<W> {
        self.extract_if(0..=u64::MAX, |_| true)
    }

    fn keys(&self, ranks: RangeInclusive<u64>) -> RangeInclusive<WaiterKey> {
        let key = |rank, number| WaiterKey {
            address: self.address,
            rank,
            number,
        };
        key(*ranks.start(), 0)..=key(*ranks.end(), u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_are_in_the_order_of_their_ranks_and_then_of_their_arrival() {
        let table = WaiterTable::new();
        let mut waiters = table.lock(8);
        for (rank, name) in [(2, "c"), (1, "a"), (2, "d"), (1, "b")] {
            waiters.add(rank, name);
        }
        assert_eq!(waiters.first_rank(), Some(1));
        assert_eq!(waiters.pop_first(), Some("a"));
        assert_eq!(waiters.extract_if(2..=2, |&name| name == "d"), ["d"]);
        assert_eq!(waiters.drain(), ["b", "c"]);
        assert_eq!(waiters.first_rank(), None);
    }

    #[test]
    fn addresses_of_one_bucket_do_not_see_each_other() {
        let table = WaiterTable::new();
        let keys: Vec<_> = (0..1000)
            .map(|address| table.lock(address).add(0, address))
            .collect();
        assert_eq!(table.remove(keys[7]), Some(7));
        assert_eq!(table.remove(keys[7]), None);
        for address in (0..1000).filter(|&address| address != 7) {
            assert_eq!(table.lock(address).drain(), [address]);
        }
    }
}
