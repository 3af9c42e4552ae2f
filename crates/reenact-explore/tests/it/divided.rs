//! What several explore at once is what one explores.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use proptest::prelude::*;
use reenact_explore::{Budget, Explorer, Limit, Report, Verdict};

use crate::{
    brute_force::{class, classes},
    generated::{config, mixed_program},
    language::{Op::*, Program, Value::Register},
};

/// The classes that were visited, and how often each.
fn visited(program: &Program, cores: usize) -> (BTreeMap<String, u64>, Report) {
    let seen = Mutex::new(BTreeMap::new());
    let report = Explorer::of(&program).run_on(
        cores,
        || program,
        |_, execution| {
            let class = format!("{:?}", class(program, execution.schedule()));
            *seen.lock().unwrap().entry(class).or_insert(0) += 1;
        },
    );
    (seen.into_inner().unwrap(), report)
}

#[test]
fn programs_of_known_counts_have_as_many_classes() {
    let mutex = [Lock(0), Unlock(0)].repeat(4);
    let counter = [Load(0), Store(0, Register(1))].repeat(2);
    for (threads, executions) in [
        (vec![mutex.clone(), mutex], 70),
        (vec![counter.clone(), counter], 34),
        (vec![vec![Lock(0), Unlock(0)]; 5], 120),
        (vec![], 1),
    ] {
        let program = Program::new(threads);
        for cores in [1, 2, 3, 24] {
            let (seen, report) = visited(&program, cores);
            assert!(report.coverage.is_complete());
            assert_eq!(report.progress.executions, executions, "{cores} cores");
            assert_eq!(seen.len() as u64, executions);
        }
    }
}

#[test]
fn all_stop_where_one_is_to_stop() {
    let fork = |mine, other| vec![Lock(mine), Lock(other), Unlock(other), Unlock(mine)];
    let program = Program::new([fork(0, 1), fork(1, 0), fork(0, 1), fork(1, 0)]);
    let deadlocks = AtomicU64::new(0);
    let report = Explorer::of(&&program).stop_at_failure().run_on(
        2,
        || &program,
        |_, execution| {
            deadlocks.fetch_add(u64::from(execution.verdict == Verdict::Deadlock), Relaxed);
        },
    );
    assert!(deadlocks.into_inner() >= 1);
    assert_eq!(report.coverage.stopped_by(), [Limit::Failure]);

    let budget = Budget {
        executions: Some(10),
        ..Budget::default()
    };
    let report = Explorer::of(&&program)
        .budget(budget)
        .run_on(2, || &program, |_, _| {});
    assert_eq!(report.coverage.stopped_by(), [Limit::Executions(10)]);
    assert!((10..=12).contains(&report.progress.executions), "{report}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_class_is_visited_once_however_many_explore(program in mixed_program()) {
        let Some(expected) = classes(&program, 2000) else {
            return Err(TestCaseError::reject("too many interleavings"));
        };
        for cores in [1, 2, 3, 24] {
            let (seen, report) = visited(&program, cores);
            prop_assert!(report.coverage.is_complete(), "{:?}", report.divergence);
            prop_assert!(seen.values().all(|&times| times == 1), "{:?}", seen);
            prop_assert_eq!(seen.len(), expected.len());
        }
    }
}
