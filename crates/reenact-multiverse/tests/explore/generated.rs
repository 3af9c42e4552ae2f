//! Programs that nobody wrote: each class of executions is visited once, and none is missing.
//!
//! `REENACT_CASES=5000` for more of them.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, test_runner::Config};
use reenact_multiverse::{Activity, explore::Explorer};

use crate::{
    brute_force::{class, classes},
    language::{
        Op::{self, *},
        Program,
        Value::{self, Just, Register},
    },
};

const CASES: u32 = 300;
const MOST_INTERLEAVINGS: usize = 4000;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![(1..3i64).prop_map(Just), (0..2i64).prop_map(Register)]
}

fn op() -> impl Strategy<Value = Op> {
    let one = 0..2usize;
    prop_oneof![
        3 => one.clone().prop_map(Load),
        3 => (one.clone(), value()).prop_map(|(variable, value)| Store(variable, value)),
        1 => (one.clone(), 1..3i64).prop_map(|(variable, more)| FetchAdd(variable, more)),
        3 => one.clone().prop_map(Lock),
        3 => one.clone().prop_map(Unlock),
        2 => (one.clone(), value()).prop_map(|(queue, value)| Send(queue, value)),
        2 => one.prop_map(Receive),
        1 => (0..4usize).prop_map(Join),
        1 => (0..3i64, 1..3usize).prop_map(|(value, count)| SkipIf(value, count)),
        1 => (0..3i64).prop_map(FailIf),
    ]
}

/// Two to four threads. The last may be spawned by one of the others.
fn program() -> impl Strategy<Value = Program> {
    let spawn = proptest::option::of((0..3usize, 0..5usize));
    (vec(vec(op(), 0..6), 2..=4), spawn).prop_map(|(mut threads, spawn)| {
        let count = threads.len();
        for op in threads.iter_mut().flatten() {
            if let Join(thread) = op {
                *thread %= count;
            }
        }
        if let Some((by, at)) = spawn {
            let thread = &mut threads[by % (count - 1)];
            thread.insert(at.min(thread.len()), Spawn(count - 1));
        }
        Program::new(threads)
    })
}

fn config() -> Config {
    let cases = match std::env::var("REENACT_CASES") {
        Ok(cases) => cases.parse().expect("REENACT_CASES is a number"),
        Err(_) => CASES,
    };
    Config {
        cases,
        max_global_rejects: 20 * cases,
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_programs_are_explored_as_if_by_brute_force(program in program()) {
        let Some(expected) = classes(&program, MOST_INTERLEAVINGS) else {
            return Err(TestCaseError::reject("too many interleavings"));
        };
        let mut visited = BTreeMap::new();
        let report = Explorer::of(&&program).run(|execution| {
            let schedule = execution.schedule().iter().map(|&Activity(thread)| thread as usize);
            let (class, outcome) = class(&program, schedule);
            assert_eq!(outcome, execution.run.machine.outcome());
            assert_eq!(visited.insert(class, outcome), None, "a class is visited once");
        });
        prop_assert!(report.coverage.is_complete());
        prop_assert_eq!(report.progress.redundant, 0);
        prop_assert_eq!(visited, expected);
    }
}
