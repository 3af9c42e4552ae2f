//! `cargo xtask test` and `cargo xtask bench`: the two things that people and CI run.
//!
//! No dependencies, so that it is built in a moment.

use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test            format, lints, all tests, the examples of the documentation
cargo xtask bench SUITE     a benchmark suite (or `all`): see docs/benchmarks.md
                            (`savina-peers`, `csp`, `stm`, `explore-peers` and `all` build other
                            libraries first, `http` and `all` a web service)
    --quick                 fewer rounds, within a minute
    --json                  one JSON object per line
    --only TEXT             only the benches whose name contains this
";

/// The suites that compare Reenact with other libraries.
const WITH_PEERS: [&str; 5] = ["savina-peers", "csp", "stm", "explore-peers", "all"];

/// The suites that are about a service.
const WITH_SERVICE: [&str; 2] = ["http", "all"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, [])) if command == "test" => test(),
        Some((command, rest)) if command == "bench" && !rest.is_empty() => bench(rest),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("xtask: failed: {failed}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "--deny",
        "warnings",
    ])?;
    cargo(&["test", "--workspace"])?;
    // The links of the documentation hold.
    let mut doc = command(&["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "--deny warnings");
    run(doc)
}

fn bench(arguments: &[String]) -> Result<(), String> {
    cargo(&[
        "build",
        "--release",
        "--quiet",
        "--package",
        "reenact-bench",
        "--bins",
    ])?;
    let is_one_of = |suites: &[&str]| arguments.iter().any(|one| suites.contains(&one.as_str()));
    if is_one_of(&WITH_PEERS) {
        build_peers()?;
    }
    if is_one_of(&WITH_SERVICE) {
        cargo(&[
            "build",
            "--release",
            "--quiet",
            "--package",
            "acme-air",
            "--bins",
        ])?;
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
    run(bench)
}

/// Builds the programs on other libraries, which are no part of the workspace, to where ours are.
fn build_peers() -> Result<(), String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    // It is in a directory for its profile.
    let target = this.ancestors().nth(2).ok_or("xtask is in no directory")?;
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../peers/Cargo.toml");
    let mut build = command(&[
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        manifest,
    ]);
    build.arg("--target-dir").arg(target);
    run(build)
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(command(arguments))
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

fn run(mut command: Command) -> Result<(), String> {
    let shown = format!("{command:?}").replace('"', "");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}
