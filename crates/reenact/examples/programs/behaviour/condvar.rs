//! `Condvar`.

use std::time::Duration;

use super::{
    Behaviours, behaviours,
    subject::{
        sync::{Arc, Condvar, LockResult, Mutex, MutexGuard, WaitTimeoutResult},
        thread,
    },
};

pub(super) const ALL: Behaviours = behaviours![
    it_can_be_made_in_a_constant,
    a_notification_ends_a_wait,
    everybody_can_be_notified,
    a_wait_gives_up_the_lock,
    a_wait_without_notification_times_out,
    a_timed_wait_returns_whether_it_was_notified,
    waiting_while_something_holds_ends_when_it_does_not,
    a_condition_that_does_not_hold_is_not_waited_for,
    a_wait_for_ever_is_possible,
    poison_is_noticed_after_a_wait,
    signatures_are_as_they_should_be,
];

#[cfg_attr(test, test)]
fn it_can_be_made_in_a_constant() {
    static CONDITION: Condvar = Condvar::new();
    CONDITION.notify_one();
    Condvar::default().notify_all();
    assert_eq!(format!("{CONDITION:?}"), "Condvar { .. }");
}

#[cfg_attr(test, test)]
fn a_notification_ends_a_wait() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let mut guard = pair.0.lock().unwrap();
    let thread = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    while !*guard {
        guard = pair.1.wait(guard).unwrap();
    }
    drop(guard);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn everybody_can_be_notified() {
    let pair = Arc::new((Mutex::new((0, false)), Condvar::new(), Condvar::new()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let mut guard = pair.0.lock().unwrap();
                guard.0 += 1;
                pair.1.notify_one();
                let _guard = pair.2.wait_while(guard, |state| !state.1).unwrap();
            })
        })
        .collect();
    let mut guard = pair
        .1
        .wait_while(pair.0.lock().unwrap(), |state| state.0 < 4)
        .unwrap();
    guard.1 = true;
    pair.2.notify_all();
    drop(guard);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[cfg_attr(test, test)]
fn a_wait_gives_up_the_lock() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        let mut guard = theirs
            .1
            .wait_while(theirs.0.lock().unwrap(), |turn| *turn != 1)
            .unwrap();
        *guard = 2;
        theirs.1.notify_one();
    });
    *pair.0.lock().unwrap() = 1;
    pair.1.notify_one();
    let guard = pair
        .1
        .wait_while(pair.0.lock().unwrap(), |turn| *turn != 2)
        .unwrap();
    assert_eq!(*guard, 2);
    drop(guard);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
#[allow(deprecated)]
fn a_wait_without_notification_times_out() {
    // std may be woken for no reason, so it may need more than one wait.
    let (mutex, condition) = (Mutex::new(1), Condvar::new());
    loop {
        let (guard, result) = condition
            .wait_timeout(mutex.lock().unwrap(), Duration::from_millis(1))
            .unwrap();
        assert_eq!(*guard, 1);
        if result.timed_out() {
            break;
        }
    }
    let waited = condition
        .wait_timeout(mutex.lock().unwrap(), Duration::ZERO)
        .unwrap();
    drop(waited);
    while condition
        .wait_timeout_ms(mutex.lock().unwrap(), 1)
        .unwrap()
        .1
    {}
    let (guard, result) = condition
        .wait_timeout_while(mutex.lock().unwrap(), Duration::from_millis(1), |_| true)
        .unwrap();
    assert!(result.timed_out());
    assert!(mutex.try_lock().is_err(), "the lock is held again");
    drop(guard);
}

#[cfg_attr(test, test)]
fn a_timed_wait_returns_whether_it_was_notified() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let guard = pair.0.lock().unwrap();
    let thread = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let (guard, result) = pair
        .1
        .wait_timeout_while(guard, Duration::from_secs(1000), |done| !*done)
        .unwrap();
    assert!(*guard && !result.timed_out());
    drop(guard);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn waiting_while_something_holds_ends_when_it_does_not() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        for _ in 0..50 {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.notify_one();
        }
    });
    let guard = pair
        .1
        .wait_while(pair.0.lock().unwrap(), |number| *number < 50)
        .unwrap();
    assert_eq!(*guard, 50);
    drop(guard);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn a_condition_that_does_not_hold_is_not_waited_for() {
    let (mutex, condition) = (Mutex::new(1), Condvar::new());
    drop(
        condition
            .wait_while(mutex.lock().unwrap(), |_| false)
            .unwrap(),
    );
    let (_guard, result) = condition
        .wait_timeout_while(mutex.lock().unwrap(), Duration::ZERO, |_| false)
        .unwrap();
    assert!(!result.timed_out());
}

#[cfg_attr(test, test)]
fn a_wait_for_ever_is_possible() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let mut guard = pair.0.lock().unwrap();
    let thread = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    while !*guard {
        let result;
        (guard, result) = pair.1.wait_timeout(guard, Duration::MAX).unwrap();
        assert!(!result.timed_out());
    }
    drop(guard);
    thread.join().unwrap();
}

#[cfg_attr(test, test)]
fn poison_is_noticed_after_a_wait() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = Arc::clone(&pair);
    let mut guard = pair.0.lock().unwrap();
    let thread = thread::spawn(move || {
        let mut guard = theirs.0.lock().unwrap();
        *guard = true;
        theirs.1.notify_one();
        panic!("with the lock");
    });
    let error = loop {
        match pair.1.wait(guard) {
            Ok(again) => guard = again,
            Err(error) => break error,
        }
    };
    assert!(**error.get_ref());
    let error = pair
        .1
        .wait_timeout(error.into_inner(), Duration::ZERO)
        .unwrap_err();
    let (guard, _) = error.into_inner();
    assert!(
        pair.1.wait_while(guard, |_| false).is_ok(),
        "no wait, no error"
    );
    assert!(thread.join().is_err());
}

#[cfg_attr(test, test)]
fn signatures_are_as_they_should_be() {
    type Guard<'a> = MutexGuard<'a, u8>;
    const _: fn() -> Condvar = Condvar::new;
    let _: for<'a> fn(&Condvar, Guard<'a>) -> LockResult<Guard<'a>> = Condvar::wait;
    let _: for<'a> fn(&Condvar, Guard<'a>, Duration) -> LockResult<(Guard<'a>, WaitTimeoutResult)> =
        Condvar::wait_timeout;
}
