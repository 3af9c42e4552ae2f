//! What holds of processes and channels does so off, recorded and replayed, with one worker and with several.

#[path = "../../examples/programs/csp/behaviour/all.rs"]
mod all;

use crate::{
    oracle::{program, record},
    support::stage::Stage,
};

#[test]
fn with_any_number_of_workers() {
    for workers in [1, 2, 3] {
        program(&Stage::new(), &["selfcheck"], workers)
            .run()
            .is_fine();
    }
}

#[test]
fn recorded_and_replayed() {
    for workers in [1, 2, 3] {
        let recording = record(&["selfcheck"], workers);
        for workers in [1, 2, 3] {
            recording.replay(workers);
        }
    }
}
