//! `cargo xtask bench dependency`: what depending on reenact costs a user.
//!
//! It generates a small crate outside the workspace, on std and on reenact with and without exploration, builds it from an empty target
//! directory, and prints the processor time and the size of the test binary. Processor time, unlike wall time, hardly
//! depends on the number of cores.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

use crate::{
    cargo::{command, run_command},
    process::time_of_children,
};

/// The environment variable that makes this program a wrapper of rustc, with the file to which it appends how long each
/// crate took.
const TIMES: &str = "XTASK_RUSTC_TIMES";

/// A program that counts on several threads; `STD` stands for `std` or `reenact`.
const LIBRARY: &str = "\
use std::sync::Arc;

use STD::{sync::Mutex, thread};

pub fn count(threads: usize) -> usize {
    let counter = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|_| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || *counter.lock().unwrap() += 1)
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    *counter.lock().unwrap()
}
";

/// Its tests; `TEST` stands for the attribute of the explored one, where it is explored.
const TESTS: &str = "\
#[test]
fn counts() {
    assert_eq!(counter::count(4), 4);
}

#[TEST]
fn counts_under_every_schedule() {
    assert_eq!(counter::count(2), 2);
}
";

/// A user's setting that leaves the lines in the debug information of dependencies, and nothing else.
const LINES: &str = "\n[profile.dev.package.\"*\"]\ndebug = \"line-tables-only\"\n";

/// Runs the suite.
pub(crate) fn run() -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("reenact-dependency-{}", std::process::id()));
    let result = measure_all(&directory);
    // What cannot be removed is left to the system.
    let _ = fs::remove_dir_all(&directory);
    result
}

fn measure_all(directory: &Path) -> Result<(), String> {
    let reenact = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/reenact");
    let default = format!("reenact = {{ path = {reenact:?} }}\n");
    let recording = format!("reenact = {{ path = {reenact:?}, default-features = false }}\n");
    let lines = |dependency: &str| format!("{dependency}{LINES}");
    let variants = [
        ("std", "std", "test", String::new()),
        ("reenact", "reenact", "reenact::test", default.clone()),
        (
            "reenact, `default-features = false`",
            "reenact",
            "test",
            recording.clone(),
        ),
        (
            "reenact, `debug = \"line-tables-only\"`",
            "reenact",
            "reenact::test",
            lines(&default),
        ),
        ("reenact, both", "reenact", "test", lines(&recording)),
    ];
    let mut costs = Vec::new();
    for (index, (name, library, attribute, dependency)) in variants.iter().enumerate() {
        let tree = directory.join(index.to_string());
        create(&tree, library, attribute, dependency)?;
        costs.push((*name, measure(&tree)?));
    }
    let std = &costs[0].1.binary;
    println!(
        "| crate on | `cargo build`, CPU | `cargo test --no-run`, CPU | test binary | growth | code | debug information |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, cost) in &costs {
        println!(
            "| {name} | {:.1} s | {:.1} s | {} | {} | {} | {} |",
            cost.build.as_secs_f64(),
            cost.test.as_secs_f64(),
            megabytes(cost.binary.all),
            megabytes(cost.binary.all.saturating_sub(std.all)),
            megabytes(cost.binary.code),
            megabytes(cost.binary.debug),
        );
    }
    print_crates(&costs[1].1, &costs[2].1);
    Ok(())
}

/// Prints what the crates cost that take longest, in the default build and in one that only records.
fn print_crates(default: &Cost, recording: &Cost) {
    println!(
        "\n| CPU of rustc in `cargo test --no-run` | reenact | `default-features = false` |\n|---|---|---|"
    );
    let mut crates: Vec<_> = default
        .crates
        .iter()
        .map(|(name, seconds)| (name, *seconds, recording.crates.get(name)))
        .collect();
    crates.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (shown, rest) = crates.split_at(crates.len().min(18));
    for (name, seconds, recording) in shown {
        let recording = recording.map_or("–".to_owned(), |seconds| format!("{seconds:.2} s"));
        println!("| {name} | {seconds:.2} s | {recording} |");
    }
    let all: f64 = rest.iter().map(|(_, seconds, _)| seconds).sum();
    let recording: f64 = rest.iter().filter_map(|(_, _, seconds)| *seconds).sum();
    println!("| all others | {all:.2} s | {recording:.2} s |");
}

/// What a crate costs.
struct Cost {
    build: Duration,
    test: Duration,
    binary: Size,
    /// The seconds that rustc took for each crate, by name.
    crates: BTreeMap<String, f64>,
}

/// The size of a binary, in bytes.
struct Size {
    all: u64,
    code: u64,
    debug: u64,
}

/// Creates the crate and downloads what it depends on.
fn create(tree: &Path, library: &str, attribute: &str, dependencies: &str) -> Result<(), String> {
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"counter\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
    );
    // The versions of this workspace.
    let lock = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"));
    let lock = lock.map_err(|error| format!("cannot read Cargo.lock: {error}"))?;
    for (file, text) in [
        ("Cargo.toml", manifest),
        ("Cargo.lock", lock),
        ("src/lib.rs", LIBRARY.replace("STD", library)),
        ("tests/counter.rs", TESTS.replace("TEST", attribute)),
    ] {
        let file = tree.join(file);
        let parent = file.parent().ok_or("a file is in no directory")?;
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    let mut fetch = command(&["fetch", "--quiet"]);
    fetch.current_dir(tree);
    run_command(fetch)
}

fn measure(tree: &Path) -> Result<Cost, String> {
    let times = tree.join("times");
    let target = tree.join("target");
    let build = time(tree, &["build"])?;
    fs::remove_dir_all(&target).map_err(|error| error.to_string())?;
    let _ = fs::remove_file(&times);
    let test = time(tree, &["test", "--no-run"])?;
    let mut crates = BTreeMap::new();
    for line in fs::read_to_string(&times)
        .map_err(|error| format!("cannot read {}: {error}", times.display()))?
        .lines()
    {
        if let Some((name, seconds)) = line.split_once(' ') {
            *crates.entry(name.to_owned()).or_default() += seconds.parse().unwrap_or(0.0);
        }
    }
    let binary = size(&test_binary(&target)?)?;
    fs::remove_dir_all(&target).map_err(|error| error.to_string())?;
    Ok(Cost {
        build,
        test,
        binary,
        crates,
    })
}

/// Runs cargo and returns the processor time of it and all that it started.
fn time(tree: &Path, arguments: &[&str]) -> Result<Duration, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut cargo = command(arguments);
    cargo
        .args(["--quiet", "--offline"])
        .current_dir(tree)
        .env("RUSTC_WRAPPER", this)
        .env(TIMES, tree.join("times"))
        .env_remove("CARGO_TARGET_DIR")
        // Cargo compiles crates of a registry in this way; those of a path, as here, otherwise in more and smaller
        // units.
        .env("CARGO_INCREMENTAL", "0");
    let before = time_of_children();
    run_command(cargo)?;
    Ok(time_of_children() - before)
}

/// If this program is to be a wrapper of rustc, runs rustc and notes how long it took.
pub(crate) fn wrap_rustc(arguments: &[std::ffi::OsString]) -> Option<ExitCode> {
    let times = std::env::var_os(TIMES)?;
    let (rustc, arguments) = arguments.split_first()?;
    let status = Command::new(rustc).args(arguments).status();
    let option = arguments.iter().position(|word| word == "--crate-name");
    let name = option.and_then(|option| arguments.get(option + 1)?.to_str());
    if let Some(name) = name {
        use std::io::Write;
        let line = format!("{name} {:.3}\n", time_of_children().as_secs_f64());
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&times);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            eprintln!("xtask: cannot write {}: {error}", times.display());
        }
    }
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {}: {error}", rustc.display());
            ExitCode::FAILURE
        }
    })
}

/// Returns the binary of `tests/counter.rs`, which is larger than that of the library's own tests: there are none.
fn test_binary(target: &Path) -> Result<PathBuf, String> {
    let directory = target.join("debug/deps");
    let files = fs::read_dir(&directory)
        .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    files
        .flatten()
        .map(|file| file.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("counter-") && !name.contains('.')
        })
        .max_by_key(|path| path.metadata().map_or(0, |metadata| metadata.len()))
        .ok_or_else(|| format!("no test binary in {}", directory.display()))
}

/// Reads the size of a binary and of its sections, as ELF for 64 bits defines them.
fn size(file: &Path) -> Result<Size, String> {
    let bytes =
        fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let (code, debug) = sections(&bytes)
        .ok_or_else(|| format!("{} is no ELF file with sections", file.display()))?;
    let all = bytes.len() as u64;
    Ok(Size { all, code, debug })
}

/// Returns the sizes of the code and of the debug information.
fn sections(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize, length: usize| {
        let mut word = [0; 8];
        word.get_mut(..length)?
            .copy_from_slice(bytes.get(at..at.checked_add(length)?)?);
        Some(u64::from_le_bytes(word))
    };
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, entry) = (number(0x28, 8)? as usize, number(0x3a, 2)? as usize);
    let (count, names) = (number(0x3c, 2)? as usize, number(0x3e, 2)? as usize);
    let names = number(table + names * entry + 0x18, 8)? as usize;
    let (mut code, mut debug) = (0, 0);
    for section in (0..count).map(|index| table + index * entry) {
        let name = bytes.get(names + number(section, 4)? as usize..)?;
        let length = number(section + 0x20, 8)?;
        if name.starts_with(b".text\0") {
            code += length;
        } else if name.starts_with(b".debug_") {
            debug += length;
        }
    }
    Some((code, debug))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn the_code_of_this_binary_is_found() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let (code, debug) = sections(&bytes).unwrap();
        assert!(code > 0 && code + debug < bytes.len() as u64);
        assert!(sections(b"\x7fELF\x02\x01").is_none());
        assert!(sections(b"#!/bin/sh").is_none());
    }
}
