//! Which bytes the trace has already, so that the same are written once.
//!
//! The table has no bytes, but hashes of them of 128 bits. They are made with a seed that nobody outside knows: whoever
//! chooses what a program reads cannot choose two different things that pass for the same.

use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::hashing::{Map, seed};

/// What is shorter is written again: that costs less than to know it.
const MIN_LENGTH: usize = 16;
/// Threads that store different bytes at the same time rarely want the same lock.
const SHARDS: usize = 16;
/// With more than these in it, a shard is emptied. The bytes will be written once more, and that is all.
const MAX_PER_SHARD: usize = (64 << 10) / SHARDS;

pub(super) struct Known {
    seed: u64,
    /// Each with the ids of what has these hashes.
    shards: [Mutex<Map<u128, u64>>; SHARDS],
}

impl Default for Known {
    fn default() -> Known {
        Known {
            seed: seed(),
            shards: Default::default(),
        }
    }
}

/// What stands for bytes in the table.
#[derive(Clone, Copy)]
pub(super) struct Name(u128);

impl Known {
    /// The name of these bytes; `None` if they are not worth one.
    pub(super) fn name(&self, bytes: &[u8]) -> Option<Name> {
        (bytes.len() >= MIN_LENGTH).then(|| Name(xxh3_128_with_seed(bytes, self.seed)))
    }

    /// The id of the data of this name.
    pub(super) fn find(&self, name: Name) -> Option<u64> {
        self.shard(name).get(&name.0).copied()
    }

    /// Notes data that are stored: whoever finds them may refer to them at once.
    pub(super) fn add(&self, name: Name, id: u64) {
        let mut shard = self.shard(name);
        if shard.len() >= MAX_PER_SHARD {
            shard.clear();
        }
        shard.insert(name.0, id);
    }

    fn shard(&self, name: Name) -> MutexGuard<'_, Map<u128, u64>> {
        self.shards[name.0 as usize % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_bounded() {
        let known = Known::default();
        for id in 0..(SHARDS * MAX_PER_SHARD * 3) as u64 {
            let name = known.name(&[id.to_le_bytes(), [0; 8]].concat()).unwrap();
            known.add(name, id);
            assert_eq!(known.find(name), Some(id));
        }
        for shard in &known.shards {
            assert!(shard.lock().unwrap().len() <= MAX_PER_SHARD);
        }
    }
}
