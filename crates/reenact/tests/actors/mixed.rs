//! Actors among threads, locks, atomics and channels.

use crate::oracle::{Strategy, record};

#[test]
fn everything_together_replays_as_it_was_recorded() {
    for strategy in Strategy::BOTH {
        for workers in [2, 4] {
            let recording = record(&["mixed", "2000"], strategy, workers);
            for workers in [workers, 1, 3] {
                recording.replay(workers);
            }
        }
    }
}
