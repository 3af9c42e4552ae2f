//! `Once`.

use super::{
    Behaviours, behaviours, panic_of,
    subject::{
        sync::{
            Arc, Once, OnceState,
            atomic::{AtomicUsize, Ordering::SeqCst},
        },
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    it_runs_once,
    those_who_come_too_late_wait_for_the_one,
    a_panic_poisons_it,
    it_can_be_forced_after_a_panic,
    it_can_be_waited_for,
    waiting_for_what_panicked_panics,
    it_can_be_shown,
];

#[cfg_attr(test, test)]
fn it_runs_once() {
    let once = Once::new();
    let mut runs = 0;
    assert!(!once.is_completed());
    once.call_once(|| runs += 1);
    once.call_once(|| runs += 1);
    once.call_once_force(|_| runs += 1);
    assert!(once.is_completed());
    assert_eq!(runs, 1);
}

#[cfg_attr(test, test)]
fn those_who_come_too_late_wait_for_the_one() {
    static ONCE: Once = Once::new();
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(|| {
                ONCE.call_once(|| {
                    thread::yield_now();
                    RUNS.fetch_add(1, SeqCst);
                });
                assert_eq!(RUNS.load(SeqCst), 1);
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn poisoned() -> Once {
    let once = Once::new();
    assert_eq!(
        panic_of(|| once.call_once(|| panic!("the one panics"))),
        "the one panics"
    );
    once
}

#[cfg_attr(test, test)]
fn a_panic_poisons_it() {
    let once = poisoned();
    assert!(!once.is_completed());
    let message = panic_of(|| once.call_once(|| panic!("not run")));
    assert_eq!(message, "Once instance has previously been poisoned");
}

#[cfg_attr(test, test)]
fn it_can_be_forced_after_a_panic() {
    Once::new().call_once_force(|state: &OnceState| assert!(!state.is_poisoned()));
    let once = poisoned();
    panic_of(|| {
        once.call_once_force(|state| {
            assert!(state.is_poisoned());
            panic!("again");
        })
    });
    once.call_once_force(|state| {
        assert!(state.is_poisoned());
        assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
    });
    assert!(once.is_completed());
    once.call_once(|| panic!("not run"));
}

#[cfg_attr(test, test)]
fn it_can_be_waited_for() {
    let once = Arc::new(Once::new());
    let theirs = Arc::clone(&once);
    let thread = thread::spawn(move || theirs.call_once(|| {}));
    once.wait();
    assert!(once.is_completed());
    once.wait_force();
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn waiting_for_what_panicked_panics() {
    let once = Arc::new(poisoned());
    assert_eq!(
        panic_of(|| once.wait()),
        "Once instance has previously been poisoned"
    );
    let theirs = Arc::clone(&once);
    let thread = thread::spawn(move || theirs.call_once_force(|_| {}));
    once.wait_force();
    assert!(once.is_completed());
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn it_can_be_shown() {
    assert_eq!(format!("{:?}", Once::new()), "Once { .. }");
}
