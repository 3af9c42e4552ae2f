//! What a program wants to be seen of it while it is explored.
//!
//! A process is one execution, so this is a static. What is watched is looked at by the thread that lets the others run, while
//! all of them wait; to that thread nothing is explored, so whatever it looks at is no step.

use std::{
    panic::AssertUnwindSafe,
    sync::{Mutex, PoisonError},
};

/// A value that is watched: what to call it, and how to put it into words.
type Watched = (String, Box<dyn Fn() -> String + Send>);

static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// From now on this can be seen. Of two with the same name, the later one.
pub(in crate::explore) fn watch(name: &str, look: Box<dyn Fn() -> String + Send>) {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    match watched.iter_mut().find(|(known, _)| known == name) {
        Some((_, before)) => *before = look,
        None => watched.push((name.to_owned(), look)),
    }
}

/// All that is watched, by name.
pub(super) fn seen() -> Vec<(String, String)> {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = watched.iter().map(|(name, look)| {
        let value = std::panic::catch_unwind(AssertUnwindSafe(look));
        let value = value.unwrap_or_else(|_| "<panicked>".to_owned());
        (name.clone(), value)
    });
    let mut seen: Vec<_> = seen.collect();
    // Not by who came first: that may be up to the schedule.
    seen.sort();
    seen
}
