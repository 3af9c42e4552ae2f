//! Maps states to their numbers.
//!
//! The table stores only numbers, not states. Half of the hash is stored beside each number: a state is compared only
//! if it is almost certainly equal, and a table grows without accessing any state.
//!
//! A large index consists of shards, by hash. They grow one at a time, so little memory is allocated twice, and
//! parallel workers own separate shards.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;
use hashbrown::HashTable;

/// The number of shards of a large index.
const SHARDS: usize = 64;
const SHARDED_FROM: usize = 4096;
const SHARD_CAPACITY: usize = 112;

/// The part of a state's hash that the index uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateHash(u32);

impl StateHash {
    #[inline]
    pub(crate) fn of(state: &impl Hash) -> Self {
        StateHash((FixedState::default().hash_one(state) >> 32) as u32)
    }

    /// The shard, of one or of [`SHARDS`]. Uses bits that a table uses last.
    #[inline]
    pub(crate) fn shard(self, of: usize) -> usize {
        if of == 1 { 0 } else { (self.0 >> 26) as usize }
    }

    /// The hash that the table needs: low bits for the bucket, high bits for the tag.
    #[inline]
    fn wide(self) -> u64 {
        u64::from(self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// A number and the hash of its state.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: StateHash,
    id: u32,
}

/// A part of the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shard(HashTable<Entry>);

impl Shard {
    #[inline]
    pub(crate) fn find(&self, hash: StateHash, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.0
            .find(hash.wide(), |entry| entry.hash == hash && is_it(entry.id))
            .map(|entry| entry.id)
    }

    /// Adds an entry that does not exist yet.
    #[inline]
    pub(crate) fn add(&mut self, hash: StateHash, id: u32) {
        self.0
            .insert_unique(hash.wide(), Entry { hash, id }, |entry| entry.hash.wide());
    }

    /// Removes all entries, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The allocated bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.allocation_size()
    }

    fn growth(&self) -> usize {
        if self.0.len() < self.0.capacity() {
            return 0;
        }
        let buckets = if self.0.capacity() == 0 {
            4
        } else {
            2 * self.0.num_buckets()
        };
        table_bytes(buckets)
    }
}

/// The bytes of a table: entries, a tag for each, and a last group of tags.
fn table_bytes(buckets: usize) -> usize {
    buckets * (size_of::<Entry>() + 1) + 32
}

/// The numbers of all states, by state.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    shards: Vec<Shard>,
    bytes: usize,
}

impl Default for Index {
    fn default() -> Self {
        Index {
            shards: vec![Shard::default()],
            bytes: size_of::<Shard>(),
        }
    }
}

impl Index {
    pub(crate) fn shards_mut(&mut self) -> &mut [Shard] {
        &mut self.shards
    }

    #[inline]
    fn shard(&self, hash: StateHash) -> usize {
        hash.shard(self.shards.len())
    }

    #[inline]
    pub(crate) fn find(&self, hash: StateHash, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.shards[self.shard(hash)].find(hash, is_it)
    }

    /// Adds an entry that does not exist yet.
    #[inline]
    pub(crate) fn add(&mut self, hash: StateHash, id: u32) {
        if self.must_split() {
            self.split();
        }
        let at = self.shard(hash);
        let shard = &mut self.shards[at];
        let grows = shard.0.len() == shard.0.capacity();
        shard.add(hash, id);
        if grows {
            self.measure();
        }
    }

    fn must_split(&self) -> bool {
        self.shards.len() == 1 && self.shards[0].0.len() >= SHARDED_FROM
    }

    fn split(&mut self) {
        let mut shards: Vec<_> = (0..SHARDS)
            .map(|_| Shard(HashTable::with_capacity(SHARD_CAPACITY)))
            .collect();
        for entry in &self.shards[0].0 {
            shards[entry.hash.shard(SHARDS)].add(entry.hash, entry.id);
        }
        self.shards = shards;
        self.measure();
    }

    /// The allocated bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Updates the index after entries were added directly to its shards.
    pub(crate) fn settle(&mut self) {
        if self.shards.len() == 1 && self.shards[0].0.len() > SHARDED_FROM {
            self.split();
        }
        self.measure();
    }

    fn measure(&mut self) {
        let tables = self.shards.iter().map(Shard::bytes);
        self.bytes = tables.sum::<usize>() + self.shards.capacity() * size_of::<Shard>();
    }

    /// The bytes that have to be allocated to add a state with this hash.
    #[inline]
    pub(crate) fn growth(&self, hash: StateHash) -> usize {
        if self.must_split() {
            SHARDS * (table_bytes(4 * SHARD_CAPACITY) + size_of::<Shard>())
        } else {
            self.shards[self.shard(hash)].growth()
        }
    }
}
