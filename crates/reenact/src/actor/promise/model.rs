//! loom runs those that settle a promise and those that wait for it in all ways.
//!
//! The value is a number; what its sender did before it resolved the promise is in a cell whose accesses loom checks.

use std::sync::Arc;

use loom::{model, model::Builder, thread};

use super::{Promise, Resolver};
use crate::loom::Cell;

struct Log(Cell<u64>);

// SAFETY: loom reports accesses of the cell that are not ordered, instead of performing them.
unsafe impl Sync for Log {}
// SAFETY: As above.
unsafe impl Send for Log {}

impl Log {
    fn new() -> Arc<Log> {
        Arc::new(Log(Cell::new(0)))
    }

    fn add(&self, digit: u64) {
        self.0.set(10 * self.0.get() + digit);
    }
}

/// ```text
/// resolver  write, resolve with 7
/// main      wait .................. read
/// ```
#[test]
fn who_waits_gets_the_value_and_sees_what_came_before() {
    model(|| {
        let (promise, resolver) = Promise::<u64>::pair();
        let log = Log::new();
        let theirs = Arc::clone(&log);
        let other = thread::spawn(move || {
            theirs.add(1);
            assert!(resolver.resolve(7));
        });
        assert_eq!(promise.wait().unwrap(), 7);
        assert_eq!(log.0.get(), 1);
        other.join().unwrap();
    });
}

/// ```text
/// resolvers (two)  resolve with 1 or 2
/// main             wait
/// ```
#[test]
fn one_of_two_resolvers_settles_it() {
    let mut builder = Builder::new();
    // Three threads; each resolver takes the lock a few times, and two preemptions get between any two of these.
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let (promise, first) = Promise::<u64>::pair();
        let second = first.clone();
        let resolve =
            |resolver: Resolver<u64>, value| thread::spawn(move || resolver.resolve(value));
        let (first, second) = (resolve(first, 1), resolve(second, 2));
        let value = promise.wait().unwrap();
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert_eq!((first, second), (value == 1, value == 2));
    });
}

/// A continuation is called once, by whichever of the two comes second.
///
/// ```text
/// resolver  write, resolve with 7
/// main      subscribe
/// ```
#[test]
fn a_subscriber_is_called_once_with_the_value() {
    model(|| {
        let (promise, resolver) = Promise::<u64>::pair();
        let log = Log::new();
        let (theirs, at_end) = (Arc::clone(&log), Arc::clone(&log));
        let other = thread::spawn(move || {
            theirs.add(1);
            resolver.resolve(2);
        });
        let subscriber = move |outcome: Result<u64, _>| log.add(outcome.unwrap());
        promise.shared.subscribe(Box::new(subscriber));
        other.join().unwrap();
        assert_eq!(at_end.0.get(), 12);
    });
}

/// ```text
/// resolvers (two)  drop
/// main             wait
/// ```
#[test]
fn it_is_broken_when_the_last_resolver_is_dropped() {
    model(|| {
        let (promise, resolver) = Promise::<u64>::pair();
        let other = thread::spawn(move || drop(resolver));
        assert!(promise.wait().is_err());
        other.join().unwrap();
    });
}
