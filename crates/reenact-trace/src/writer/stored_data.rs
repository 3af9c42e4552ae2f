//! Which bytes the trace already has, so that equal data are written once.
//!
//! The table contains 128-bit hashes instead of the bytes. They use a seed that is unknown outside: an attacker who
//! chooses what a program reads cannot construct a collision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::hashing::{SeededMap, seed};

/// Shorter data are written again, which is cheaper than a lookup.
const MIN_LENGTH: usize = 16;
/// Several shards, so that threads that store different bytes at the same time rarely contend.
const SHARDS: usize = 16;
/// A shard with this many entries is cleared. The only effect is that the bytes will be written once more.
const MAX_PER_SHARD: usize = (64 << 10) / SHARDS;

pub(super) struct StoredData {
    seed: u64,
    /// The ids of data by hash.
    shards: [Mutex<SeededMap<u128, u64>>; SHARDS],
}

impl Default for StoredData {
    fn default() -> StoredData {
        StoredData {
            seed: seed(),
            shards: Default::default(),
        }
    }
}

/// The hash that represents bytes in the table.
#[derive(Clone, Copy)]
pub(super) struct ContentHash(u128);

impl StoredData {
    /// Returns the hash of these bytes; `None` if they are too short.
    pub(super) fn hash(&self, bytes: &[u8]) -> Option<ContentHash> {
        (bytes.len() >= MIN_LENGTH).then(|| ContentHash(xxh3_128_with_seed(bytes, self.seed)))
    }

    /// Returns the id of the data with this hash.
    pub(super) fn find(&self, hash: ContentHash) -> Option<u64> {
        self.shard(hash).get(&hash.0).copied()
    }

    /// Adds data that are completely stored: other threads may refer to them at once.
    pub(super) fn add(&self, hash: ContentHash, id: u64) {
        let mut shard = self.shard(hash);
        if shard.len() >= MAX_PER_SHARD {
            shard.clear();
        }
        shard.insert(hash.0, id);
    }

    fn shard(&self, hash: ContentHash) -> MutexGuard<'_, SeededMap<u128, u64>> {
        self.shards[hash.0 as usize % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_bounded() {
        let stored = StoredData::default();
        for id in 0..(SHARDS * MAX_PER_SHARD * 3) as u64 {
            let hash = stored.hash(&[id.to_le_bytes(), [0; 8]].concat()).unwrap();
            stored.add(hash, id);
            assert_eq!(stored.find(hash), Some(id));
        }
        for shard in &stored.shards {
            assert!(shard.lock().unwrap().len() <= MAX_PER_SHARD);
        }
    }
}
