//! Programs in which nobody can go on. They are killed when they say so.

use reenact::{
    sync::{Arc, Barrier, Condvar, Mutex},
    thread,
};

use super::{say, sleep_for_good, spin_for_good};
use crate::support::{join_all, start_workers};

pub(super) fn run(name: &str, _arguments: &[String]) -> bool {
    match name {
        "deadlock" => deadlock(0),
        "deadlock-after-check" => deadlock(64),
        "self-deadlock" => self_deadlock(),
        "lost-signal" => lost_signal(),
        "asleep" => busy_elsewhere(|| sleep_for_good()),
        "spinning" => busy_elsewhere(|| spin_for_good()),
        "one-lock" => one_lock(),
        _ => return false,
    }
    true
}

/// Two threads, each with the lock that the other wants:
///
/// ```text
/// left:   lock a ── both have one ── lock b …
/// right:  lock b ── both have one ── lock a …
/// ```
///
/// Main has so many events of its own before it waits for them.
fn deadlock(events: usize) {
    let held = Mutex::new(());
    let guard = held.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..events {
                assert!(held.try_lock().is_err());
            }
        });
    });
    drop(guard);
    let mine = Arc::new(Mutex::new(()));
    for _ in 0..events {
        let theirs = Arc::clone(&mine);
        thread::spawn(move || drop(theirs.lock().unwrap()))
            .join()
            .unwrap();
        drop(mine.lock().unwrap());
    }

    let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
    let both = Arc::new(Barrier::new(2));
    let threads: Vec<_> = [("left", &a, &b), ("right", &b, &a)]
        .into_iter()
        .map(|(name, first, second)| {
            let (first, second) = (Arc::clone(first), Arc::clone(second));
            let both = Arc::clone(&both);
            let body = move || {
                let _first = first.lock().unwrap();
                both.wait();
                say("stuck");
                let _second = second.lock().unwrap();
            };
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(body)
                .unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A thread waits for itself.
fn self_deadlock() {
    let lock = Mutex::new(());
    let _held = lock.lock().unwrap();
    say("stuck");
    say("stuck");
    let _again = lock.lock().unwrap();
}

/// The signal comes before anyone waits for it.
fn lost_signal() {
    let (lock, signal) = (Mutex::new(()), Condvar::new());
    signal.notify_all();
    let guard = lock.lock().unwrap();
    say("stuck");
    say("stuck");
    let _never = signal.wait(guard).unwrap();
}

/// Everybody has done something and now does something else.
fn busy_elsewhere(do_something_else: fn()) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads = start_workers(2, &list, move |list, me| {
        for _ in 0..100 {
            list.lock().unwrap().push(me);
        }
        say("stuck");
        do_something_else();
    });
    join_all!(threads);
}

/// Main and a thread take one lock, each once.
fn one_lock() {
    let lock = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&lock);
    let thread = thread::spawn(move || *theirs.lock().unwrap() += 1);
    *lock.lock().unwrap() += 1;
    thread.join().unwrap();
    println!("{}", lock.lock().unwrap());
}
