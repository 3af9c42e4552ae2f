//! `cargo xtask test` and `cargo xtask bench`: the two things that people and CI run.
//!
//! No dependencies, so that it is built in a moment.

mod bench;

use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test            format, lints, all tests, the examples of the documentation
cargo xtask bench SUITE     a benchmark suite (or `all`): see docs/benchmarks.md
                            (`savina-peers`, `csp`, `stm`, `explore-peers` and `all` build other
                            libraries first, `http` and `all` a web service)
    --quick                 fewer rounds, within a minute
    --json                  one JSON object per line
    --only TEXT             only the benches whose name contains this
    --against REV           instead of what the suite compares: build this git revision too, run both
                            interleaved, and print how they compare (for `locks`, `savina`, `csp`,
                            `stm`, `mixed`, `explore` and `instructions`)
cargo xtask bench forget    remove all that `--against` has built
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, [])) if command == "test" => test(),
        Some((command, rest)) if command == "bench" && !rest.is_empty() => bench::bench(rest),
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
