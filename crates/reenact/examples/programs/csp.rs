//! Programs of processes and channels: `programs csp NAME [ARG…]`.
//!
//! The environment says how many workers there are.

mod contests;
mod failures;
mod fairness;
mod generated;
mod many_processes;
mod selfcheck;

use reenact_testing::programs::Programs;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    const ALL: &[Programs] = &[
        selfcheck::run,
        contests::run,
        many_processes::run,
        fairness::run,
        generated::run,
        failures::run,
    ];
    name == "csp" && reenact_testing::programs::run(arguments, ALL)
}

/// The n-th argument as a number.
fn number(arguments: &[String], n: usize) -> usize {
    arguments[n].parse().expect("a number")
}
