//! What somebody has seen, in a file that survives the process: for programs that are killed.

use std::{
    env,
    fs::OpenOptions,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use memmap2::{MmapOptions, MmapRaw};

/// How many there is room for.
pub(crate) const PARTIES: usize = 6;

/// Numbers in a file that is named by the environment.
pub(crate) struct SharedNumbers(MmapRaw);

impl SharedNumbers {
    /// Opens the file with room for so many bytes.
    pub(crate) fn open(bytes: usize) -> SharedNumbers {
        let path = env::var_os("ACKNOWLEDGED").expect("where to acknowledge");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .expect("a file to acknowledge in");
        file.set_len(bytes as u64).expect("room");
        let map = MmapOptions::new().len(bytes).map_raw(&file);
        SharedNumbers(map.expect("a map"))
    }

    pub(crate) fn set(&self, index: usize, number: u64) {
        assert!(index < self.0.len() / 8);
        // SAFETY: Aligned, within the file, and accessed only in this way.
        let place = unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().cast::<u64>().add(index)) };
        place.store(number, SeqCst);
    }
}

/// What each party has seen.
pub(crate) struct Acknowledged(SharedNumbers);

impl Acknowledged {
    const BYTES: usize = 1 << 20;
    /// How many values there is room for from each party.
    const ROOM: usize = Self::BYTES / 8 / PARTIES - 1;

    pub(crate) fn open() -> Acknowledged {
        Acknowledged(SharedNumbers::open(Self::BYTES))
    }

    /// The n-th value that a party saw. Those that no longer have a place are only counted.
    pub(crate) fn saw(&self, party: usize, count: usize, what: u64) {
        let first = party * (Self::ROOM + 1);
        if count < Self::ROOM {
            self.0.set(first + count + 1, what);
        }
        self.0.set(first, count as u64 + 1);
    }
}
