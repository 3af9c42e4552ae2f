//! Programs that nobody wrote: each class of executions is visited once, and none is missing.
//!
//! `REENACT_CASES=5000` for more of them.

use std::collections::BTreeMap;

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseResult},
};
use reenact_explore::Explorer;
use reenact_testing::generated;

use crate::{
    brute_force::{class, classes},
    language::{
        Op::{self, *},
        Program,
        Value::{self, Just, Register},
    },
};

const CASES: u32 = 150;
const MOST_INTERLEAVINGS: usize = 4000;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![(1..3i64).prop_map(Just), (0..2i64).prop_map(Register)]
}

/// One of two, of whatever kind.
fn one() -> std::ops::Range<usize> {
    0..2
}

fn local() -> BoxedStrategy<Op> {
    prop_oneof![
        2 => (0..3i64, 1..3usize).prop_map(|(value, count)| SkipIf(value, count)),
        1 => (0..3i64).prop_map(FailIf),
    ]
    .boxed()
}

fn access() -> BoxedStrategy<Op> {
    prop_oneof![
        3 => one().prop_map(Load),
        3 => (one(), value()).prop_map(|(variable, value)| Store(variable, value)),
        1 => (one(), 1..3i64).prop_map(|(variable, more)| FetchAdd(variable, more)),
    ]
    .boxed()
}

fn hold() -> BoxedStrategy<Op> {
    prop_oneof![one().prop_map(Lock), one().prop_map(Unlock)].boxed()
}

fn pass() -> BoxedStrategy<Op> {
    let queue = 0..2usize;
    prop_oneof![
        (queue.clone(), value()).prop_map(|(queue, value)| Send(queue, value)),
        queue.prop_map(Receive),
    ]
    .boxed()
}

fn join() -> BoxedStrategy<Op> {
    (0..4usize).prop_map(Join).boxed()
}

/// Two to four threads. The last may be spawned by one of the others.
fn program(op: BoxedStrategy<Op>) -> impl Strategy<Value = Program> {
    let spawn = proptest::option::of((0..3usize, 0..5usize));
    (vec(vec(op, 0..6), 2..=4), spawn).prop_map(|(mut threads, spawn)| {
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

pub(crate) fn config() -> Config {
    let config = generated::config(CASES);
    Config {
        max_global_rejects: 20 * config.cases,
        ..config
    }
}

/// Of accesses, locks and choices.
pub(crate) fn mixed_program() -> impl Strategy<Value = Program> {
    program(
        prop_oneof![
            6 => access(),
            5 => hold(),
            2 => (2..3u32).prop_map(Pick),
            1 => join(),
            2 => local(),
        ]
        .boxed(),
    )
}

/// Returns how many executions were given up, or of a class that was visited before.
fn agrees(program: &Program) -> Result<u64, TestCaseError> {
    let Some(expected) = classes(program, MOST_INTERLEAVINGS) else {
        return Err(TestCaseError::reject("too many interleavings"));
    };
    let mut visited = BTreeMap::new();
    let mut again = 0;
    let report = Explorer::of(&program).run(|execution| {
        let (class, outcome) = class(program, execution.schedule());
        assert_eq!(outcome, execution.run.machine.outcome());
        again += u64::from(visited.insert(class, outcome).is_some());
    });
    prop_assert_eq!(report.divergence, None);
    prop_assert!(report.coverage.is_complete());
    prop_assert_eq!(visited, expected);
    Ok(report.progress.redundant + again)
}

fn agrees_exactly(program: &Program) -> TestCaseResult {
    prop_assert_eq!(agrees(program)?, 0);
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn accesses_and_locks(
        program in program(prop_oneof![
            7 => access(), 6 => hold(), 1 => join(), 2 => local(),
        ].boxed()),
    ) {
        agrees_exactly(&program)?;
    }

    #[test]
    fn queues(
        program in program(prop_oneof![
            3 => access(), 2 => hold(), 6 => pass(), 1 => join(), 2 => local(),
        ].boxed()),
    ) {
        agrees(&program)?;
    }

    #[test]
    fn choices(
        program in program(prop_oneof![
            4 => access(),
            2 => hold(),
            4 => (1..4u32).prop_map(Pick),
            1 => join(),
            2 => local(),
        ].boxed()),
    ) {
        agrees_exactly(&program)?;
    }

    #[test]
    fn waits_and_notifications(
        program in program(prop_oneof![
            4 => one().prop_map(Wait),
            3 => one().prop_map(NotifyOne),
            1 => one().prop_map(NotifyAll),
            2 => access(),
            2 => hold(),
            1 => (2..3u32).prop_map(Pick),
            1 => join(),
            1 => local(),
        ].boxed()),
    ) {
        agrees_exactly(&program)?;
    }

    #[test]
    fn transactions(
        program in program(prop_oneof![
            4 => (0..3usize, 0..3usize).prop_map(|(a, b)| Transact(a, b)),
            3 => (0..3usize, value()).prop_map(|(variable, value)| Store(variable, value)),
            2 => (0..3usize).prop_map(Load),
            1 => hold(),
            1 => local(),
        ].boxed()),
    ) {
        agrees(&program)?;
    }

    #[test]
    fn tries_of_locks(
        program in program(prop_oneof![
            2 => one().prop_map(Lock),
            4 => one().prop_map(TryLock),
            4 => one().prop_map(Unlock),
            2 => access(),
            1 => join(),
            2 => local(),
        ].boxed()),
    ) {
        agrees_exactly(&program)?;
    }

    #[test]
    fn looking_and_taking(
        program in program(prop_oneof![
            4 => one().prop_map(Look),
            2 => one().prop_map(Take),
            1 => one().prop_map(Downgrade),
            4 => one().prop_map(Leave),
            2 => access(),
            2 => pass(),
            1 => join(),
            1 => local(),
        ].boxed()),
    ) {
        agrees(&program)?;
    }

    #[test]
    fn tries_of_queues_and_closing(
        program in program(prop_oneof![
            2 => pass(),
            2 => (one(), value()).prop_map(|(queue, value)| TrySend(queue, value)),
            2 => one().prop_map(TryReceive),
            1 => one().prop_map(Close),
            1 => access(),
            1 => local(),
        ].boxed()),
    ) {
        agrees(&program)?;
    }

    #[test]
    fn latches(
        program in program(prop_oneof![
            2 => one().prop_map(Set),
            3 => one().prop_map(Ask),
            1 => one().prop_map(Await),
            2 => access(),
            1 => join(),
            1 => local(),
        ].boxed()),
    ) {
        agrees_exactly(&program)?;
    }
}
