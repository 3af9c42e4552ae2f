//! What the parties of a program have acknowledged in a file that survives it.

use std::{fs, path::Path};

const PARTIES: usize = 6;

/// The number that each thread has acknowledged; 0 if there is no file yet.
pub(crate) fn acknowledged_numbers<const THREADS: usize>(file: &Path) -> [u64; THREADS] {
    let bytes = fs::read(file).unwrap_or_default();
    let (numbers, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|thread| {
        numbers
            .get(thread)
            .map_or(0, |&bytes| u64::from_le_bytes(bytes))
    })
}

/// Whether every thread has acknowledged in the replay at least what it had in the recording.
#[track_caller]
pub(crate) fn at_least<const THREADS: usize>(replayed: [u64; THREADS], recorded: [u64; THREADS]) {
    let reached = replayed
        .iter()
        .zip(&recorded)
        .all(|(replayed, recorded)| replayed >= recorded);
    assert!(reached, "replayed {replayed:?} of {recorded:?}");
}

/// What each party saw, in its order, as far as there was room for it; and how much it was.
pub(crate) fn acknowledged(file: &Path) -> Vec<(u64, Vec<u64>)> {
    let bytes = fs::read(file).unwrap_or_default();
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers: Vec<_> = numbers
        .iter()
        .map(|&bytes| u64::from_le_bytes(bytes))
        .collect();
    let room = numbers.len() / PARTIES;
    (0..PARTIES)
        .map(|party| {
            let seen = &numbers[party * room..(party + 1) * room];
            let (count, seen) = seen.split_first().expect("a file of that length");
            let written = seen.len().min(*count as usize);
            (*count, seen[..written].to_vec())
        })
        .collect()
}

/// Whatever was acknowledged in the recording is so in the replay; beyond that, at most what was about to be.
#[track_caller]
pub(crate) fn goes_on_from(recorded: &Path, replayed: &Path) {
    let [recorded, replayed] = [recorded, replayed].map(acknowledged);
    for (party, (recorded, replayed)) in recorded.iter().zip(&replayed).enumerate() {
        assert!(
            replayed.0 >= recorded.0 && replayed.0 <= recorded.0 + 2,
            "party {party} saw {} values and then {}",
            recorded.0,
            replayed.0
        );
        assert!(
            replayed.1.starts_with(&recorded.1),
            "party {party} saw other values"
        );
    }
}
