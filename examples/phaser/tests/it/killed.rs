//! `kill -9` at any instant: what was said before it is said again in a replay, and hardly more.

use crate::run::Program;

#[test]
fn a_killed_crowd_replays_to_where_it_was() {
    for round in 1..=30 {
        let program = Program::new(&[]);
        let recorded = program.start_recording().kill_after(round * 17);
        let replayed = program.replay(&[]);
        let report = replayed.report.as_deref().unwrap_or_default();
        assert!(report.starts_with("ended\n"), "{replayed:#?}");
        let further = replayed.stdout.strip_prefix(&recorded.stdout);
        let further = further.unwrap_or_else(|| panic!("{recorded:#?} and {replayed:#?}"));
        // A step that was recorded but not spoken of yet: of a phase that is over, and of who was its last.
        assert!(further.lines().count() <= 2, "{further}");
    }
}
