//! `cargo xtask test`: runs all checks that must pass before a change is merged.

use std::{process::Command, time::Instant};

use crate::cargo::{command, guarded, install, nextest, run_command};

/// The workspaces, and which rules of `deny.toml` apply. The libraries in peers/ choose their own dependencies, and
/// nobody ships them: several versions of a crate are no concern there.
const WORKSPACES: [(&str, &[&str]); 3] = [
    ("Cargo.toml", &["bans", "licenses", "sources"]),
    ("peers/Cargo.toml", &["licenses", "sources"]),
    ("fuzz/Cargo.toml", &["bans", "licenses", "sources"]),
];

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
    step("lints", Ok(clippy(&["--workspace", "--all-targets"])));
    step("lints without exploration", Ok(without_explore()));
    let advisories = install("deny", "checks the dependencies").map(|()| has_advisories());
    for (workspace, checks) in WORKSPACES {
        let deny = advisories
            .clone()
            .map(|known| deny(workspace, checks, known));
        step(&format!("dependencies of {workspace}"), deny);
    }
    step("tests", nextest(&[]));
    step(
        "examples of the documentation",
        guarded(&["test", "--doc", "--workspace", "--no-fail-fast", "--quiet"]),
    );
    step("links of the documentation", Ok(doc()));
    if advisories == Ok(false) {
        eprintln!("xtask: SKIPPED: security advisories, whose database could not be downloaded");
    }
    match &failures[..] {
        [] => Ok(()),
        failures => Err(failures.join("\n               ")),
    }
}

fn clippy(what: &[&str]) -> Command {
    let mut clippy = command(&["clippy", "--quiet"]);
    clippy.args(what).args(["--", "--deny", "warnings"]);
    clippy
}

/// Checks what is compiled where a program is only recorded and replayed. Not the tests: they need exploration.
fn without_explore() -> Command {
    clippy(&[
        "--no-default-features",
        "--package=reenact",
        "--package=reenact-engine",
        "--package=reenact-http",
        "--package=reenact-macros",
        "--package=recorded-only",
    ])
}

/// Downloads the database of security advisories, which is in a repository of its own. Returns whether it is there.
fn has_advisories() -> bool {
    let mut fetch = command(&["deny", "--log-level", "off", "fetch", "db"]);
    fetch.output().is_ok_and(|output| output.status.success())
}

/// Returns a call of cargo-deny, with the rules of `deny.toml`.
fn deny(workspace: &str, checks: &[&str], has_advisories: bool) -> Command {
    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut deny = command(&["deny", "--locked", "--log-level", "error"]);
    deny.arg("--config").arg(format!("{ROOT}/deny.toml"));
    deny.arg("--manifest-path")
        .arg(format!("{ROOT}/{workspace}"));
    deny.args(["check", "--hide-inclusion-graph"]).args(checks);
    if has_advisories {
        deny.arg("advisories");
    }
    deny
}

fn doc() -> Command {
    let mut doc = command(&["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "--deny warnings");
    doc
}
