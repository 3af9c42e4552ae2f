//! How many executions there will be, estimated halfway.

use reenact_explore::{Budget, Explorer};

use crate::language::{
    Op::{self, *},
    Program,
    Value::{Just, Register},
};

/// The estimate after half of the executions.
fn halfway(threads: impl IntoIterator<Item = Vec<Op>>, executions: u64) -> u64 {
    let program = Program::new(threads);
    let budget = Budget {
        executions: Some(executions / 2),
        ..Budget::default()
    };
    let report = Explorer::of(&&program).budget(budget).run(|_| ());
    report.progress.estimate.expect("some are done")
}

#[test]
fn halfway_the_order_of_magnitude_is_known() {
    let is_near = |threads: Vec<Vec<Op>>, executions| {
        let estimate = halfway(threads, executions);
        assert!(
            (executions / 10..=executions * 10).contains(&estimate),
            "{estimate} instead of {executions}"
        );
    };
    is_near(vec![[Lock(0), Unlock(0)].repeat(6); 2], 924);
    is_near(vec![[Load(0), Store(0, Register(1))].repeat(3); 2], 328);
    is_near(vec![vec![Lock(0), Unlock(0)]; 5], 120);
    let readers = vec![vec![Load(0)]; 6];
    is_near([vec![vec![Store(0, Just(1))]], readers].concat(), 64);
    let senders = (0..3).map(|i| vec![Send(0, Just(i)); 3]);
    is_near(senders.chain([vec![Receive(0); 9]]).collect(), 1680);
    is_near(vec![vec![Pick(5), Pick(5)]; 2], 625);
}

#[test]
fn in_the_end_it_is_the_number_of_executions() {
    let program = Program::new([vec![Load(0)], vec![Store(0, Just(1))]]);
    let report = Explorer::of(&&program).run(|_| ());
    assert_eq!(report.progress.estimate, Some(2));
}
