//! Programs of processes and channels: `programs csp NAME [ARG…]`.
//!
//! The environment says how many workers there are.

mod bad_days;
mod contests;
mod crowds;
mod fairness;
mod generated;
mod selfcheck;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "csp" {
        return false;
    }
    let Some((name, arguments)) = arguments.split_first() else {
        return false;
    };
    selfcheck::run(name, arguments)
        || contests::run(name, arguments)
        || crowds::run(name, arguments)
        || fairness::run(name, arguments)
        || generated::run(name, arguments)
        || bad_days::run(name, arguments)
}

/// The n-th argument as a number.
fn number(arguments: &[String], n: usize) -> usize {
    arguments[n].parse().expect("a number")
}
