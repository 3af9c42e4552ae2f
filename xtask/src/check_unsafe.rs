//! `cargo xtask check-unsafe`: runs the tests of the crates with unsafe code under tools that see what goes wrong in it.
//!
//! Each tool has its own target directory, `target/check-unsafe/TOOL`, so that it does not rebuild what the others need.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::cargo::{guarded_by, install, target};

/// The crates with unsafe code in their concurrency.
const CRATES: [&str; 4] = ["-p", "reenact-engine", "-p", "reenact"];

/// The engine defines the thread functions of the C library, to capture them (`captured/threads.rs`), and AddressSanitizer
/// does too, in the same executable. It has to know of each thread, so its functions are used.
const ASAN_FLAGS: &str = "-Zsanitizer=address \
    -Clink-arg=-Wl,--defsym=pthread_create=___interceptor_pthread_create \
    -Clink-arg=-Wl,--defsym=pthread_join=___interceptor_pthread_join";

/// Tasks leave their stacks, so no frame may be kept on a stack of AddressSanitizer's own. Much is never freed on
/// purpose, such as pools and carriers: what is leaked is not looked for. Who uses up a stack gets the message of the
/// standard library, which tests expect.
const ASAN_OPTIONS: &str =
    "detect_stack_use_after_return=0:detect_leaks=0:handle_segv=0:use_sigaltstack=0";

/// Valgrind takes no part in the processes that tests start; all replays are among them. The stacks of tasks are next to
/// each other: with larger frames than this, it would take a switch between them for the end of many calls.
const VALGRIND: [&str; 5] = [
    "valgrind",
    "--quiet",
    "--error-exitcode=99",
    "--fair-sched=yes",
    "--max-stackframe=131072",
];

pub(crate) fn run() -> Result<(), String> {
    install("nextest", "runs the tests")?;
    let mut failures = Vec::new();
    for (name, command) in [
        ("loom", loom()?),
        ("AddressSanitizer", address_sanitizer()?),
        ("valgrind", valgrind()?),
    ] {
        eprintln!("xtask: {name}");
        let line = match counted(command) {
            Ok(counts) => counts,
            Err(why) => {
                failures.push(name);
                format!("FAILED: {why}")
            }
        };
        println!("check-unsafe: {name}: {line}");
    }
    match &failures[..] {
        [] => Ok(()),
        failures => Err(failures.join(", ")),
    }
}

/// The models, which run code with loom's atomics in every way its threads can be interleaved.
pub(crate) fn loom() -> Result<Command, String> {
    let mut command = tests("loom", &[], &["--lib", "-E", "test(/(^|::)model::/)"])?;
    command.env("RUSTFLAGS", "--cfg loom").args([
        "--config=profile.dev.debug=0",
        // Most of the time is spent there.
        "--config=profile.dev.package.loom.opt-level=2",
        "--config=profile.dev.package.generator.opt-level=2",
    ]);
    Ok(command)
}

fn address_sanitizer() -> Result<Command, String> {
    // Without a choice of targets here, the programs that tests start are built as well.
    let filter = "kind(lib) | binary(=it) | binary(=stm) | binary(=csp) | binary(=actors)";
    let mut command = tests("address", &[], &["-E", filter])?;
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", ASAN_FLAGS)
        .env("ASAN_OPTIONS", ASAN_OPTIONS)
        .args([
            // Given explicitly, so that the flags are not those of build scripts.
            "--target=x86_64-unknown-linux-gnu",
            "--features=corosensei/sanitizer",
            "--config=profile.dev.debug='line-tables-only'",
        ]);
    Ok(command)
}

fn valgrind() -> Result<Command, String> {
    tests(
        "valgrind",
        &VALGRIND,
        &["--lib", "-E", "not test(/(^|::)stall::/)"],
    )
}

/// Returns a call of nextest for the tests of [`CRATES`], each started through the guard and then `through`.
fn tests(tool: &str, through: &[&str], arguments: &[&str]) -> Result<Command, String> {
    let mut command = guarded_by(
        through,
        &[&["nextest", "run"], &CRATES[..], arguments].concat(),
    )?;
    let directory = target()?.join("check-unsafe").join(tool);
    command.env("CARGO_TARGET_DIR", directory);
    command.args(["--status-level=fail", "--no-fail-fast"]);
    Ok(command)
}

/// Runs a call of nextest, passing on what it prints. Returns what it says of how many tests there were.
fn counted(mut command: Command) -> Result<String, String> {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut counts = None;
    for line in child
        .stderr
        .take()
        .into_iter()
        .flat_map(|stderr| BufReader::new(stderr).lines())
    {
        let line = line.map_err(|error| error.to_string())?;
        eprintln!("{line}");
        if let Some((_, rest)) = line.split_once("Summary [")
            && let Some((seconds, rest)) = rest.split_once(']')
        {
            counts = Some(format!("{}, in {}", rest.trim(), seconds.trim()));
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let counts = counts.unwrap_or_else(|| status.to_string());
    if status.success() {
        Ok(counts)
    } else {
        Err(counts)
    }
}
