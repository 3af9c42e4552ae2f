//! What holds of std holds of reenact: off, recorded and replayed.

#[path = "../../examples/programs/behaviour/all.rs"]
#[expect(clippy::duplicate_mod, reason = "of another subject")]
mod behaviour;

/// Whom the behaviours are of.
use reenact as subject;

use crate::run::Run;

#[test]
fn the_behaviours_hold_when_recorded_and_replayed() {
    for _ in 0..5 {
        let run = Run::record("selfcheck", &[]);
        assert!(run.outcome.status.success(), "{}", run.outcome.stdout);
        run.replay(10);
    }
}
