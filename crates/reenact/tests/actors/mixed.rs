//! Actors among threads, locks, atomics and channels.

use crate::oracle::{Recording, Strategy};

#[test]
fn everything_together_replays_as_it_was_recorded() {
    for strategy in Strategy::BOTH {
        for workers in [2, 4] {
            let recording = Recording::of(&["mixed", "2000"], strategy, workers);
            for workers in [workers, 1, 3] {
                recording.replay(workers);
            }
        }
    }
}
