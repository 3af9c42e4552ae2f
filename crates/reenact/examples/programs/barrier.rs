//! Programs around `Barrier`.

use reenact::sync::{Arc, Barrier, Mutex};

use crate::support::{Seen, jitter, run_workers};

crate::programs! {
    "barrier-leaders" => leaders,
    "barrier-small" => small,
}

/// Four threads meet again and again: who is the last to come?
fn leaders() {
    let barrier = Arc::new(Barrier::new(4));
    let led = run_workers(4, move |_| {
        let mut rounds = Vec::new();
        for round in 0..60 {
            jitter();
            if barrier.wait().is_leader() {
                rounds.push(round);
            }
        }
        rounds
    });
    let total: usize = led.iter().map(Vec::len).sum();
    println!("{total} {led:?}");
}

/// Barriers for one, or for nobody, hold up nobody.
fn small() {
    let barriers = Arc::new((
        Barrier::new(0),
        Barrier::new(1),
        Mutex::new(Seen::default()),
    ));
    let theirs = Arc::clone(&barriers);
    run_workers(3, move |me| {
        for _ in 0..50 {
            assert!(theirs.0.wait().is_leader());
            assert!(theirs.1.wait().is_leader());
            theirs.2.lock().unwrap().note(me);
        }
    });
    println!("{}", barriers.2.lock().unwrap().digest());
}
