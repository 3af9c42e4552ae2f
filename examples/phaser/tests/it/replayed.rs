//! The oracle: a replay prints what the recording printed and ends as it ended, and has nothing to report. While it runs it
//! compares every operation with the trace, so that it is the same path and not only the same end.
//!
//! What the parties do is generated: most of what can go wrong nobody would think of. `REENACT_CASES=1000` for more.

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use reenact_testing::generated;

use crate::run::Program;

const CASES: u32 = 40;
const REPLAYS: usize = 10;

fn parties() -> impl Strategy<Value = Vec<String>> {
    let party = "[tp][awblxc]{1,12}";
    prop_oneof![vec(party, 1..7), vec("[tp]b{1,30}", 2..5)]
}

#[track_caller]
fn check(parties: &[String]) {
    let program = Program::new(parties);
    let recorded = program.record();
    for _ in 0..REPLAYS {
        assert_eq!(program.replay(&[]), recorded);
    }
}

#[test]
fn a_replay_is_the_recorded_run() {
    let config = Config {
        max_shrink_iters: 100,
        ..generated::config(CASES)
    };
    let result = TestRunner::new(config).run(&parties(), |parties| {
        check(&parties);
        Ok(())
    });
    result.unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn who_was_in_time_is_in_time_again() {
    check(&["talalalalal", "palalalalal", "tbbbbb", "pbbbbb"].map(str::to_owned));
}
