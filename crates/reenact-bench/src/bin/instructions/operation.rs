//! The command line of the programs whose instructions are counted: which operation, and how often.
//!
//! These programs use as little of Reenact's API as they can, and none of this package: `cargo xtask bench instructions
//! --against REV` builds them, as they are now, with the libraries of another revision.

use std::{env, process::ExitCode};

/// A name, and a function that does it so many times.
pub(crate) type Operation = (&'static str, fn(u64));

/// Does what the command line says: `NAME TIMES`.
pub(crate) fn run(operations: &[Operation]) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, times] = &arguments[..] else {
        return usage(operations);
    };
    let operation = operations.iter().find(|(its, _)| its == name);
    let (Some((_, run)), Ok(times)) = (operation, times.parse()) else {
        return usage(operations);
    };
    run(times);
    ExitCode::SUCCESS
}

fn usage(operations: &[Operation]) -> ExitCode {
    let names: Vec<_> = operations.iter().map(|(name, _)| *name).collect();
    eprintln!(
        "Usage: NAME TIMES, where NAME is one of {}",
        names.join(", ")
    );
    ExitCode::from(2)
}
