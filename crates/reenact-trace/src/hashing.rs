//! Hash tables that do not affect the program's randomness.
//!
//! The tables of `std` take a seed from the system for each thread. In a recorded or replayed process these calls
//! belong to the program: Reenact captures the results of `getrandom`, and a table of ours would add a call that the
//! program did not make. So the seed of our tables comes from a direct system call, which is not intercepted, once per
//! process. A seed is necessary: keys come from files, and with a known hash function a file could be crafted in which
//! all keys collide.
//!
//! Nothing that is written depends on the seed: no table is iterated in its own order.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, Hasher},
    sync::OnceLock,
};

use xxhash_rust::xxh3::xxh3_64;

pub(crate) type SeededMap<K, V> = HashMap<K, V, Seeded>;
pub(crate) type SeededSet<K> = HashSet<K, Seeded>;

/// Returns a number that is unknown outside of this process.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let mut seed = 0u64;
        // The address of the stack is the best alternative without a system call.
        let fallback = (&raw const seed).addr() as u64;
        let length = size_of_val(&seed);
        // SAFETY: The kernel writes at most `length` bytes to `seed`, which has this size.
        let got = unsafe {
            libc::syscall(
                libc::SYS_getrandom,
                &raw mut seed,
                length,
                libc::GRND_NONBLOCK,
            )
        };
        if got == length as libc::c_long {
            seed
        } else {
            fallback
        }
    })
}

/// Builds hashers from the process's [`seed`].
#[derive(Clone, Copy)]
pub(crate) struct Seeded {
    begin: u64,
    factor: u64,
}

impl Default for Seeded {
    fn default() -> Seeded {
        let begin = seed();
        Seeded {
            begin,
            factor: xxh3_64(&begin.to_le_bytes()) | 1,
        }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Mixed;

    fn build_hasher(&self) -> Mixed {
        Mixed {
            hash: self.begin,
            factor: self.factor,
        }
    }
}

/// A hasher for keys of a few words.
pub(crate) struct Mixed {
    hash: u64,
    factor: u64,
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // Together, the two halves of the product depend on every bit of the factors.
        let product = u128::from(self.hash ^ number) * u128::from(self.factor);
        self.hash = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_do_not_meet() {
        let seeded = Seeded::default();
        let hashes: SeededSet<u64> = (0..1000u64).map(|n| seeded.hash_one(n)).collect();
        assert_eq!(hashes.len(), 1000);
    }

    #[test]
    fn two_tables_hash_alike() {
        let key = (3u32, 7u64, 1u16);
        assert_eq!(
            Seeded::default().hash_one(key),
            Seeded::default().hash_one(key)
        );
    }
}
