//! `cargo xtask test`: runs all checks that must pass before a change is merged.

use std::{process::Command, time::Instant};

use crate::cargo::{command, guarded, nextest, run_command};

/// Runs all steps, even after one has failed.
pub(crate) fn run() -> Result<(), String> {
    let mut failures = Vec::new();
    let mut step = |name: &str, command: Result<Command, String>| {
        eprintln!("xtask: {name}");
        let begin = Instant::now();
        let result = command.and_then(run_command);
        let seconds = begin.elapsed().as_secs();
        match result {
            Ok(()) => eprintln!("xtask: {name}: passed in {seconds} s"),
            Err(why) => {
                eprintln!("xtask: {name}: FAILED in {seconds} s");
                failures.push(format!("{name}: {why}"));
            }
        }
    };
    step("format", Ok(command(&["fmt", "--all", "--check"])));
    step("lints", Ok(clippy()));
    step("tests", nextest(&[]));
    step(
        "examples of the documentation",
        guarded(&["test", "--doc", "--workspace", "--no-fail-fast", "--quiet"]),
    );
    step("links of the documentation", Ok(doc()));
    match &failures[..] {
        [] => Ok(()),
        failures => Err(failures.join("\n               ")),
    }
}

fn clippy() -> Command {
    command(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ])
}

fn doc() -> Command {
    let mut doc = command(&["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "--deny warnings");
    doc
}
