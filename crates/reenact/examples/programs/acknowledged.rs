//! What somebody has seen, in a file that survives the process: for programs that are killed.

use std::{
    env,
    fs::OpenOptions,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use memmap2::{MmapOptions, MmapRaw};

/// How many there is room for.
pub(crate) const PARTIES: usize = 6;

/// What each party has seen, in a file that is named by the environment.
pub(crate) struct Acknowledged(MmapRaw);

impl Acknowledged {
    pub(crate) fn open() -> Acknowledged {
        let path = env::var_os("ACKNOWLEDGED").expect("where to acknowledge");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .expect("a file to acknowledge in");
        file.set_len(1 << 20).expect("room");
        Acknowledged(
            MmapOptions::new()
                .len(1 << 20)
                .map_raw(&file)
                .expect("a map"),
        )
    }

    /// The n-th value that a party saw. Those that no longer have a place are only counted.
    pub(crate) fn saw(&self, party: usize, count: usize, what: u64) {
        const ROOM: usize = (1 << 20) / 8 / PARTIES - 1;
        let place = |index: usize| {
            // SAFETY: Aligned, within the file, and used only in this way.
            unsafe {
                AtomicU64::from_ptr(
                    self.0
                        .as_mut_ptr()
                        .cast::<u64>()
                        .add(party * (ROOM + 1) + index),
                )
            }
        };
        if count < ROOM {
            place(count + 1).store(what, SeqCst);
        }
        place(0).store(count as u64 + 1, SeqCst);
    }
}
