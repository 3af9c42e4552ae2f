//! Tests that are explored.

use reenact::{
    explore::any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use crate::schedules::no_lost_update;

#[reenact::test]
fn an_explored_test_passes() {
    no_lost_update();
}

#[reenact::test(
    strategy = "pct 3",
    executions = 100,
    seconds = 5,
    steps = 1000,
    seed = 7
)]
fn one_with_options_passes() -> Result<(), String> {
    match any(3) {
        3 => Err("there are three".to_owned()),
        _ => Ok(()),
    }
}

#[reenact::test(strategy = "exhaustive", cores = 2)]
fn one_on_two_cores_passes() {
    let x = Arc::new(AtomicUsize::new(0));
    let threads = [1, 2, 3].map(|me| {
        let x = Arc::clone(&x);
        thread::spawn(move || x.fetch_add(me, SeqCst))
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(x.load(SeqCst), 6);
}

#[reenact::test]
#[should_panic(expected = "main.0 loads atomic@")]
fn one_that_fails_reports_its_schedule() {
    // Nothing is kept of it: this is not a failure of ours.
    let keeps = std::env::var_os("REENACT_SCHEDULE").is_none();
    assert!(keeps);
    super::failures::lost_update();
}
