//! Hash tables that leave the program's randomness alone.
//!
//! The tables of `std` take a seed from the system for each thread. In a recorded or replaying process that is the
//! program's: Reenact captures what `getrandom` gives it, and a table of ours would be one more call that the program
//! did not make. So the seed of ours comes from the kernel by a way that nobody intercepts, once for the process. There
//! must be one: keys come from files, and with a hash that is known to everybody a file could be made in which all of
//! them meet in one place.
//!
//! Nothing that is written depends on the seed: no table is gone through in its own order.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, Hasher},
    sync::OnceLock,
};

use xxhash_rust::xxh3::xxh3_64;

pub(crate) type Map<K, V> = HashMap<K, V, Seeded>;
pub(crate) type Set<K> = HashSet<K, Seeded>;

/// A number that nobody outside of this process knows.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let mut seed = 0u64;
        // Where the stack is, is the next best that can be had without asking.
        let fallback = (&raw const seed).addr() as u64;
        let length = size_of_val(&seed);
        // SAFETY: The kernel writes at most so many bytes to where the number is.
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

/// Makes hashes with numbers that come from the process's [`seed`].
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

/// A hash of the few words that a key is.
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
        // Between them, the two halves of a product depend on every bit of what is multiplied.
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
        let hashes: Set<u64> = (0..1000u64).map(|n| seeded.hash_one(n)).collect();
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
