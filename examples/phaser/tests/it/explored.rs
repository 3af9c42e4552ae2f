//! An exploration knows the phaser as it knows any other object: one execution of each class, in the phaser's own words.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use phaser::Phaser;
use reenact::{
    explore::{Explorer, Failed, Strategy},
    thread,
};

/// Explores `program`, which returns the outcome of an execution: how many executions there were, and their outcomes.
fn explore(program: impl Fn() -> String + Send + Sync + 'static) -> (u64, BTreeSet<String>) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let all = Arc::clone(&seen);
    let finding = Explorer::new().strategy(Strategy::Exhaustive).run(move || {
        let outcome = program();
        all.lock().unwrap().insert(outcome);
    });
    assert!(finding.failure.is_none(), "{:?}", finding.failure);
    assert!(finding.is_complete);
    let seen = seen.lock().unwrap().clone();
    (finding.executions, seen)
}

/// Each party arrives once, in every order.
#[test]
fn parties_arrive_in_every_order() {
    for (count, executions) in [(2, 2), (3, 6), (4, 24)] {
        let (explored, seen) = explore(move || {
            let phaser = Phaser::new();
            let parties: Vec<_> = (0..count).map(|_| phaser.register()).collect();
            let threads: Vec<_> = parties
                .into_iter()
                .map(|mut party| {
                    thread::spawn(move || {
                        let is_last = party.arrive_and_wait();
                        // Leaving is a step, too; this is about arriving.
                        std::mem::forget(party);
                        is_last
                    })
                })
                .collect();
            let last: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect();
            format!("{last:?}")
        });
        assert_eq!(explored, executions);
        assert_eq!(seen.len(), count, "each of them is the last");
    }
}

/// ```text
/// main.0: arrive  wait, for some time
/// main.1: arrive
/// main.2: does something that the phaser has nothing to do with, twice
/// ```
#[test]
fn a_timed_wait_depends_on_the_phaser_alone() {
    let (explored, seen) = explore(|| {
        let phaser = Phaser::new();
        let (mut one, mut two) = (phaser.register(), phaser.register());
        let waits = thread::spawn(move || {
            one.arrive();
            let is_over = one.wait_timeout(Duration::from_secs(1));
            std::mem::forget(one);
            is_over
        });
        let arrives = thread::spawn(move || {
            two.arrive();
            std::mem::forget(two);
        });
        let other = thread::spawn(|| {
            let lock = reenact::sync::Mutex::new(0);
            *lock.lock().unwrap() += 1;
            *lock.lock().unwrap() += 1;
        });
        arrives.join().unwrap();
        other.join().unwrap();
        format!("{}", waits.join().unwrap())
    });
    assert_eq!(
        explored, 3,
        "arrive wait arrive, arrive arrive wait, arrive arrive wait"
    );
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_failing_schedule_describes_the_phaser_by_its_own_operations() {
    let program = || {
        let phaser = Phaser::new();
        let (mut one, mut two) = (phaser.register(), phaser.register());
        let thread = thread::spawn(move || {
            let is_last = two.arrive();
            std::mem::forget(two);
            is_last
        });
        let is_last = one.arrive();
        std::mem::forget(one);
        assert!(is_last || thread.join().unwrap());
        assert!(is_last, "the other one was");
    };
    let failed: Box<Failed> = Explorer::new().try_check(program).expect_err("it fails");
    let lines = &failed.schedule().lines;
    assert!(
        lines
            .iter()
            .any(|line| line.operation() == "arrive at a phaser"),
        "{failed}"
    );
    assert!(
        lines.iter().all(|line| line.site.contains("explored.rs")),
        "{failed}"
    );
}

/// ```text
/// main.0  arrive ──┐ wait, leave
/// main.1  arrive ──┘ wait, leave
/// ```
///
/// Either may arrive first, and either may leave first: four classes.
#[test]
fn every_order_of_arrivals_and_departures_is_explored_once() {
    let finding = Explorer::new().strategy(Strategy::Exhaustive).run(|| {
        let phaser = Phaser::new();
        let parties = [phaser.register(), phaser.register()];
        let threads = parties.map(|mut party| thread::spawn(move || party.arrive_and_wait()));
        let last = threads.map(|thread| thread.join().unwrap());
        assert_ne!(last[0], last[1], "one of them was the last");
    });
    assert!(finding.is_complete);
    assert_eq!(finding.executions, 4);
}
