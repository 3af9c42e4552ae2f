//! Values that a program shows while it is explored.
//!
//! A process is one execution, so this is a static. The controlling thread reads the watched values while all other
//! threads wait. That thread is not part of the execution, so reading a value is not a step.

use std::{
    panic::AssertUnwindSafe,
    sync::{Mutex, PoisonError},
};

/// The name of a watched value, and a closure that describes it.
type Watched = (String, Box<dyn Fn() -> String + Send>);

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Shows the value from now on. Replaces an earlier one of the same name.
pub(in crate::explore) fn watch(name: &str, describe: Box<dyn Fn() -> String + Send>) {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    match watched.iter_mut().find(|(known, _)| known == name) {
        Some((_, before)) => *before = describe,
        None => watched.push((name.to_owned(), describe)),
    }
}

/// Returns all watched values with their names, sorted by name.
pub(super) fn values() -> Vec<(String, String)> {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let values = watched.iter().map(|(name, describe)| {
        let value = std::panic::catch_unwind(AssertUnwindSafe(describe));
        let value = value.unwrap_or_else(|_| "<panicked>".to_owned());
        (name.clone(), value)
    });
    let mut values: Vec<_> = values.collect();
    // The order of registration may depend on the schedule.
    values.sort();
    values
}
