//! Waits that end without a reason, on request.

use std::time::Duration;

use reenact::{
    explore::{Explorer, Failure, Finding, Strategy},
    sync::{Arc, Condvar, Mutex},
    thread,
};

fn explore(most: u32, program: impl Fn() + Send + Sync + 'static) -> Finding {
    let explorer = Explorer::new().strategy(Strategy::Exhaustive);
    explorer.spurious_wakeups(most).run(program)
}

/// ```text
/// main ── lock ── [wait until it is there] ── take it
/// child ── lock ── put it there ── notify
/// ```
fn hand_over(waits: impl Fn(&Condvar, &Mutex<Option<u32>>) + Send + Sync + 'static) -> impl Fn() {
    let waits = Arc::new(waits);
    move || {
        let shared = Arc::new((Mutex::new(None), Condvar::new()));
        let child = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                *shared.0.lock().unwrap() = Some(7);
                shared.1.notify_one();
            })
        };
        waits(&shared.1, &shared.0);
        child.join().unwrap();
    }
}

fn with_if(came: &Condvar, slot: &Mutex<Option<u32>>) {
    let mut slot = slot.lock().unwrap();
    if slot.is_none() {
        slot = came.wait(slot).unwrap();
    }
    assert_eq!(slot.take(), Some(7));
}

fn with_while(came: &Condvar, slot: &Mutex<Option<u32>>) {
    let mut slot = slot.lock().unwrap();
    while slot.is_none() {
        slot = came.wait(slot).unwrap();
    }
    assert_eq!(slot.take(), Some(7));
}

#[test]
fn a_condition_that_is_not_checked_again_is_found_only_on_request() {
    let finding = explore(0, hand_over(with_if));
    assert!(finding.is_complete, "{finding}");
    let finding = explore(1, hand_over(with_if));
    let failure = finding.failure.expect("it fails");
    assert!(
        matches!(failure.failures[0], Failure::Panic(..)),
        "{failure:?}"
    );
    let steps = failure.schedule.to_string();
    assert!(
        steps.contains("decide whether to wake spuriously: yes"),
        "{steps}"
    );
}

#[test]
fn a_condition_that_is_checked_again_survives_spurious_wakeups() {
    for most in 0..4 {
        let finding = explore(most, hand_over(with_while));
        assert!(
            finding.is_complete && finding.failure.is_none(),
            "{finding}"
        );
    }
}

#[test]
fn executions_without_the_request_are_as_many_as_before() {
    let counts = [0, 1, 2].map(|most| explore(most, hand_over(with_while)).executions);
    assert_eq!(counts[0], 2);
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

/// A wakeup without a reason must not hide that nobody notifies.
#[test]
fn a_lost_wakeup_is_found_however_many_waits_may_end() {
    for most in 0..3 {
        let finding = explore(most, || {
            let pair = Arc::new((Mutex::new(()), Condvar::new()));
            let other = Arc::clone(&pair);
            let child = thread::spawn(move || other.1.notify_one());
            drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
            child.join().unwrap();
        });
        let failure = finding.failure.expect("it hangs");
        assert!(
            matches!(failure.failures[0], Failure::Deadlock(_)),
            "{failure:?}"
        );
    }
}

#[test]
fn a_timed_wait_may_end_early_without_a_timeout() {
    let program = hand_over(|came, slot| {
        let slot = slot.lock().unwrap();
        if slot.is_none() {
            let (slot, waited) = came.wait_timeout(slot, Duration::from_secs(1)).unwrap();
            assert!(slot.is_some() || waited.timed_out());
        }
    });
    let program = Arc::new(program);
    let again = Arc::clone(&program);
    assert!(explore(0, move || program()).is_complete);
    assert!(explore(1, move || again()).failure.is_some());
}

#[test]
fn a_parked_thread_may_go_on_without_being_unparked() {
    let program = |is_checked: bool| {
        move || {
            let done = Arc::new(Mutex::new(false));
            let main = thread::current();
            let set = Arc::clone(&done);
            let child = thread::spawn(move || {
                *set.lock().unwrap() = true;
                main.unpark();
            });
            match is_checked {
                true => {
                    while !*done.lock().unwrap() {
                        thread::park();
                    }
                }
                false => thread::park(),
            }
            assert!(*done.lock().unwrap());
            child.join().unwrap();
        }
    };
    assert!(explore(0, program(false)).is_complete);
    assert!(explore(2, program(false)).failure.is_some());
    let finding = explore(2, program(true));
    assert!(
        finding.is_complete && finding.failure.is_none(),
        "{finding}"
    );
}

#[reenact::test(spurious_wakeups = 2, strategy = "exhaustive")]
fn the_attribute_takes_the_number_of_wakeups() {
    hand_over(with_while)();
}
