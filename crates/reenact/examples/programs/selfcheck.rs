//! `programs selfcheck`: reenact behaves as std does, where it is recorded or replayed too.

#[path = "behaviour/all.rs"]
mod behaviour;

use reenact as subject;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    reenact_testing::behaviours::selfcheck(behaviour::ALL, name, arguments)
}
