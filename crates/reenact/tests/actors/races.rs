//! Races of promises: which way each of thousands goes is timing, and the same in every replay.

use crate::oracle::{Strategy, numbers, record};

/// Records the races twice with each strategy, and replays them with few and with many workers.
#[track_caller]
fn check(program: &str) {
    let mut orders = [0, 0];
    for strategy in Strategy::BOTH {
        for workers in [2, 3] {
            let recording = record(&[program, "5000"], strategy, workers);
            let counts = recording.outcome.stdout.lines().last().map(numbers);
            let counts = counts.expect("how often which was first");
            assert_eq!(counts.iter().sum::<u64>(), 5000);
            orders[0] += counts[0];
            orders[1] += counts[1];
            for workers in [workers, 1, 5] {
                recording.replay(workers);
            }
        }
    }
    assert!(
        orders[0] > 0 && orders[1] > 0,
        "a race that only one can win is none: {orders:?}"
    );
}

#[test]
fn two_messages_of_one_sender_through_two_promises() {
    check("promise-race");
}

#[test]
fn sending_to_a_promise_and_resolving_it() {
    check("send-race");
}

#[test]
fn two_who_resolve_one_promise() {
    check("resolve-race");
}
