//! Calls cargo.

use std::{
    path::PathBuf,
    process::{Command, ExitStatus},
};

/// Returns a call of cargo with these arguments.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}

/// Calls cargo. Returns an error if it fails.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    run_command(command(arguments))
}

/// Runs a command. Returns an error if it fails.
pub(crate) fn run_command(mut command: Command) -> Result<(), String> {
    let status = status(&mut command)?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{}: {status}", shown(&command)))
    }
}

/// Runs a command and returns its exit status.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, String> {
    let shown = shown(command);
    command
        .status()
        .map_err(|error| format!("{shown}: {error}"))
}

/// Returns a call of cargo that starts every test through the guard, see [`crate::guard`].
pub(crate) fn guarded(arguments: &[&str]) -> Result<Command, String> {
    guarded_by(&[], arguments)
}

/// Like [`guarded`]; and the guard starts the test through another program.
pub(crate) fn guarded_by(through: &[&str], arguments: &[&str]) -> Result<Command, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let through: String = through.iter().map(|word| format!(", {word:?}")).collect();
    let runner = format!("target.'cfg(all())'.runner = [{this:?}, 'guard'{through}]");
    let (first, rest) = arguments.split_first().ok_or("cargo does nothing")?;
    let mut command = command(&[first]);
    // Not by an environment variable: tests that call cargo would pass it on.
    match *first {
        "nextest" => {
            let (run, rest) = rest.split_first().ok_or("nextest does nothing")?;
            command.args([run, "--config", &runner]).args(rest);
        }
        _ => {
            command.args(["--config", &runner]).args(rest);
        }
    }
    Ok(command)
}

/// Returns a guarded call of `cargo nextest run`, which `.config/nextest.toml` configures. Installs nextest if it is
/// missing.
pub(crate) fn nextest(arguments: &[&str]) -> Result<Command, String> {
    nextest_in(&["--workspace"], arguments)
}

/// The same for these packages, which are arguments of cargo.
pub(crate) fn nextest_in(packages: &[&str], arguments: &[&str]) -> Result<Command, String> {
    install("nextest", "runs the tests")?;
    guarded(&[&["nextest", "run"], packages, arguments].concat())
}

/// Installs a subcommand of cargo if it is missing.
pub(crate) fn install(subcommand: &str, purpose: &str) -> Result<(), String> {
    let mut version = command(&[subcommand, "--version"]);
    if version.output().is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    eprintln!("xtask: installing cargo-{subcommand}, which {purpose}");
    run(&["install", &format!("cargo-{subcommand}"), "--locked"])
}

/// Returns the target directory of cargo.
pub(crate) fn target() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    // The executable is in the directory of its profile.
    let target = this.ancestors().nth(2).ok_or("xtask is in no directory")?;
    Ok(target.to_owned())
}

fn shown(command: &Command) -> String {
    format!("{command:?}").replace('"', "")
}
