//! Programs that end badly or in a bad place, and programs that are not the same on another day.
//!
//! What a test reads from a program that is killed, or sends to it, goes through files and pipes whose names are
//! in its environment: arguments are part of a recording.

mod child_processes;
mod drift;
mod ends;
mod foreign;
mod killed;
mod locals;
mod many_threads;
mod stuck;

use reenact_testing::programs::Programs;

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    const ALL: &[Programs] = &[
        killed::run,
        many_threads::run,
        drift::run,
        ends::run,
        foreign::run,
        locals::run,
        child_processes::run,
        stuck::run,
    ];
    ALL.iter().any(|run| run(name, arguments))
}

/// Signals to whoever started this program that it has reached the place that they wait for.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let mut output = std::io::stdout().lock();
    // Nobody may be listening, in a replay.
    let _ = writeln!(output, "{line}");
    let _ = output.flush();
}

/// Sleeps until the process ends. Outside of what is recorded, as in a system call.
fn sleep_for_good() -> ! {
    loop {
        std::thread::park();
    }
}

/// Computes until the process ends.
fn spin_for_good() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// A hash that depends on the order.
fn fold(hash: u64, next: u64) -> u64 {
    hash.wrapping_mul(31).wrapping_add(next)
}

/// The n-th argument as a number.
fn number(arguments: &[String], n: usize) -> usize {
    arguments[n].parse().expect("a number")
}
