//! Programs of actors: `programs actors NAME [ARG…]`.
//!
//! All use the system that programs share, so that the environment says how many workers there are.

mod failures;
mod generated;
mod mixed;
mod races;

use reenact_testing::programs::Programs;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    const ALL: &[Programs] = &[races::run, mixed::run, generated::run, failures::run];
    name == "actors" && reenact_testing::programs::run(arguments, ALL)
}

/// The n-th argument as a number.
fn number(arguments: &[String], n: usize) -> usize {
    arguments[n].parse().expect("a number")
}
