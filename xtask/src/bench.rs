//! `cargo xtask bench`: benchmarks, and what they need built.

use crate::cargo::{self, command, run_command};

/// The suites that compare Reenact with other libraries.
const WITH_PEERS: [&str; 5] = ["savina-peers", "csp", "stm", "explore-peers", "all"];

/// The suites that are about a service.
const WITH_SERVICE: [&str; 2] = ["http", "all"];

pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    build("reenact-bench")?;
    let is_one_of = |suites: &[&str]| arguments.iter().any(|one| suites.contains(one));
    if is_one_of(&WITH_PEERS) {
        build_peers()?;
    }
    if is_one_of(&WITH_SERVICE) {
        build("acme-air")?;
    }
    let mut bench = command(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "reenact-bench",
        "--bin",
        "reenact-bench",
        "--",
    ]);
    bench.args(arguments);
    run_command(bench)
}

fn build(package: &str) -> Result<(), String> {
    cargo::run(&[
        "build",
        "--release",
        "--quiet",
        "--package",
        package,
        "--bins",
    ])
}

/// Builds the programs on other libraries, which are no part of the workspace, to where ours are.
fn build_peers() -> Result<(), String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../peers/Cargo.toml");
    let mut build = command(&[
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        manifest,
    ]);
    build.arg("--target-dir").arg(cargo::target()?);
    run_command(build)
}
