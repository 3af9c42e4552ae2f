//! `programs csp selfcheck [NAME…]`: processes and channels behave as they should where they are recorded or replayed.

#[path = "behaviour/all.rs"]
mod behaviour;

/// Runs all behaviours, or those of these names.
pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    reenact_testing::behaviours::selfcheck(behaviour::ALL, name, arguments)
}
