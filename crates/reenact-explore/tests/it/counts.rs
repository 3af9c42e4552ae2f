//! Programs whose number of inequivalent executions is known.

use reenact_explore::{Explorer, Progress};

use crate::language::{
    Op::{self, *},
    Program,
    Value::{Just, Register},
};

fn explore(program: &Program) -> Progress {
    let report = Explorer::of(&program).run(|_| ());
    assert!(report.coverage.is_complete());
    assert_eq!(report.progress.redundant, 0);
    report.progress
}

fn count(threads: impl IntoIterator<Item = Vec<Op>>) -> u64 {
    let progress = explore(&Program::new(threads));
    assert_eq!((progress.deadlocks, progress.failures), (0, 0));
    progress.executions
}

#[test]
fn readers_see_the_write_or_not() {
    for n in 1..=6 {
        let readers = (0..n).map(|_| vec![Load(0)]);
        let threads = std::iter::once(vec![Store(0, Just(1))]).chain(readers);
        assert_eq!(count(threads), 1 << n);
    }
}

#[test]
fn a_scan_finds_the_last_zero() {
    let counts = (1..=5).map(|n| {
        let scan = (0..=n).rev().flat_map(|i| [Load(i), EndIf(0)]).collect();
        let writers = (1..=n).map(|j| vec![Load(j - 1), Store(j, Register(1))]);
        count(std::iter::once(scan).chain(writers))
    });
    assert_eq!(counts.collect::<Vec<_>>(), [2, 5, 12, 28, 64]);
}

#[test]
fn two_threads_take_turns_with_a_mutex() {
    for (n, expected) in [(1, 2), (2, 6), (3, 20), (6, 924)] {
        let thread = [Lock(0), Unlock(0)].repeat(n);
        assert_eq!(count([thread.clone(), thread]), expected);
    }
}

#[test]
fn two_threads_load_and_store() {
    for (n, expected) in [(1, 4), (2, 34), (3, 328)] {
        let thread = [Load(0), Store(0, Register(1))].repeat(n);
        assert_eq!(count([thread.clone(), thread]), expected);
    }
}

#[test]
fn philosophers_can_starve_in_one_way() {
    for (n, expected) in [(2, 3), (3, 7)] {
        let program = Program::new((0..n).map(|i| {
            let (left, right) = (i, (i + 1) % n);
            vec![Lock(left), Lock(right), Unlock(right), Unlock(left)]
        }));
        let progress = explore(&program);
        assert_eq!((progress.executions, progress.deadlocks), (expected, 1));
    }
}

#[test]
fn a_receiver_sees_every_order_of_the_sends() {
    for (n, expected) in [(1, 6), (2, 90), (3, 1680)] {
        let senders = (0..3).map(|i| vec![Send(0, Just(i)); n]);
        let receiver = vec![Receive(0); 3 * n];
        assert_eq!(count(senders.chain([receiver])), expected);
    }
}

#[test]
fn threads_take_a_mutex_in_every_order() {
    for (n, expected) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
        assert_eq!(count((0..n).map(|_| vec![Lock(0), Unlock(0)])), expected);
    }
}

#[test]
fn spawn_and_join_order_without_a_race() {
    let main = vec![
        Store(0, Just(1)),
        Spawn(1),
        Spawn(2),
        Join(1),
        Join(2),
        Load(0),
    ];
    let child = vec![Load(0)];
    assert_eq!(count([main, child.clone(), child]), 1);
}

#[test]
fn every_choice_is_made_in_every_schedule() {
    // Three values, of which the first of two stores is overwritten: 3 × 3 choices, 2 orders.
    let thread = vec![Pick(3), Store(0, Register(0))];
    assert_eq!(count([thread.clone(), thread]), 18);
    // Choices that nobody sees only multiply.
    assert_eq!(count([vec![Pick(2), Pick(3)], vec![Pick(5)]]), 30);
}

#[test]
fn a_notification_wakes_any_of_those_who_wait() {
    // Each of three may have begun to wait before the notification or not, and it wakes one of those who have:
    // 3 · 1 + 3 · 2 + 1 · 3, and once nobody.
    let waiters = (0..3).map(|_| vec![Wait(0)]);
    let progress = explore(&Program::new(waiters.chain([vec![NotifyOne(0)]])));
    assert_eq!((progress.executions, progress.deadlocks), (13, 13));
}

#[test]
fn readers_of_a_lock_commute() {
    // The writer takes it before, between or after any of the readers.
    for n in 1..=4 {
        let readers = (0..n).map(|_| vec![Look(0), Leave(0)]);
        let writer = vec![Take(0), Leave(0)];
        assert_eq!(count(readers.chain([writer])), 1 << n);
    }
}

#[test]
fn a_try_fails_only_while_somebody_has_the_lock() {
    let holder = vec![Lock(0), Unlock(0)];
    assert_eq!(count([holder, vec![TryLock(0), Unlock(0)]]), 3);
}

#[test]
fn the_order_of_sends_does_not_matter_if_nobody_receives_them() {
    for n in 1..=6 {
        assert_eq!(count((0..n).map(|i| vec![Send(0, Just(i))])), 1);
    }
    // Of four, one is received, and only which one can be observed.
    let senders = (0..4).map(|i| vec![Send(0, Just(i))]);
    assert_eq!(count(senders.chain([vec![Receive(0)]])), 4);
}
