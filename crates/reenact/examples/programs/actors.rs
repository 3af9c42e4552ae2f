//! Programs of actors: `programs actors NAME [ARG…]`.
//!
//! All use the system that programs share, so that the environment says how many workers there are.

mod bad_days;
mod generated;
mod mixed;
mod races;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    if name != "actors" {
        return false;
    }
    let Some((name, arguments)) = arguments.split_first() else {
        return false;
    };
    races::run(name, arguments)
        || mixed::run(name, arguments)
        || generated::run(name, arguments)
        || bad_days::run(name, arguments)
}

/// The n-th argument as a number.
fn number(arguments: &[String], n: usize) -> usize {
    arguments[n].parse().expect("a number")
}
