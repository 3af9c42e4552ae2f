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
pub(in crate::explore) fn watch(name: &str, look: Box<dyn Fn() -> String + Send>) {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    match watched.iter_mut().find(|(known, _)| known == name) {
        Some((_, before)) => *before = look,
        None => watched.push((name.to_owned(), look)),
    }
}

/// Returns all watched values with their names, sorted by name.
pub(super) fn seen() -> Vec<(String, String)> {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = watched.iter().map(|(name, look)| {
        let value = std::panic::catch_unwind(AssertUnwindSafe(look));
        let value = value.unwrap_or_else(|_| "<panicked>".to_owned());
        (name.clone(), value)
    });
    let mut seen: Vec<_> = seen.collect();
    // The order of registration may depend on the schedule.
    seen.sort();
    seen
}
