//! `cargo xtask hunt`: runs the generated tests with new seeds until the time is up.
//!
//! The output of a failed test is kept in a directory, in one file per test and seed, see [`Catch`].

use std::{
    collections::hash_map::RandomState,
    env,
    ffi::OsString,
    fs::{self, File},
    hash::BuildHasher,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::mpsc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    cargo::{nextest, run_command, target},
    process::{SIGTERM, send},
};

/// The seed of generated tests: see `reenact_testing::generated`.
const SEED: &str = "REENACT_TEST_SEED";
/// The directory in which guards keep the output of failed tests.
const DIRECTORY: &str = "REENACT_HUNT";
/// The exit status of nextest if tests have failed; other errors have other statuses.
const TESTS_FAILED: i32 = 100;

/// The modules that contain generated tests. A test below fails if one is missing.
const GENERATED: &[&str] = &[
    "agreement",
    "answers",
    "bounded_fuzz",
    "bounds",
    "data",
    "directory",
    "divided",
    "entry",
    "generated",
    "known",
    "minimal",
    "numbering",
    "replayed",
    "robust",
    "round_trip",
    "shared",
    "surroundings",
    "temporal",
    "texts",
    "theorem",
];

pub(crate) fn run(minutes: u64) -> Result<(), String> {
    // Build before the time starts.
    run_command(nextest(&["--no-run"])?)?;
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let second = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = second.map_or(0, |time| time.as_secs());
    let directory = target()?.join("hunt").join(second.to_string());
    let filter = format!(r"test(/(^|::)({})::/)", GENERATED.join("|"));
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut rounds = 0;
    while Instant::now() < end {
        rounds += 1;
        // Fits any integer type that reads it.
        let seed = RandomState::new().hash_one(rounds) >> 32;
        eprintln!("xtask: round {rounds}, seed {seed}");
        let mut tests = nextest(&["-E", &filter, "--status-level", "fail"])?;
        tests.env(SEED, seed.to_string()).env(DIRECTORY, &directory);
        let status = match run_until(end, &mut tests) {
            Ok(Some(status)) => status,
            Ok(None) => break,
            Err(error) => return Err(format!("cargo nextest: {error}")),
        };
        if !status.success() && status.code() != Some(TESTS_FAILED) {
            return Err(format!("cargo nextest: {status}"));
        }
    }
    let found = found(&directory);
    eprintln!("xtask: {rounds} rounds, {} failures", found.len());
    match &found[..] {
        [] => {
            let _ = fs::remove_dir(&directory);
            Ok(())
        }
        found => {
            let paths = found.iter().map(|path| path.display().to_string());
            Err(paths.collect::<Vec<_>>().join("\n               "))
        }
    }
}

/// Runs a command until `end` at the latest. Returns `None` if it had to be terminated.
fn run_until(end: Instant, command: &mut Command) -> io::Result<Option<std::process::ExitStatus>> {
    let mut child: Child = command.spawn()?;
    let process = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::spawn(move || {
        let status = child.wait();
        let _ = sender.send(());
        status
    });
    let time = end.saturating_duration_since(Instant::now());
    let in_time = receiver.recv_timeout(time).is_ok();
    if !in_time {
        send(process, SIGTERM);
    }
    let status = waiting.join().expect("waiting does not panic")?;
    Ok(in_time.then_some(status))
}

/// Returns the files that were kept.
fn found(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for file in files.map(|file| file.path()) {
        match file.extension() {
            Some(kind) if kind == "txt" => found.push(file),
            // The test was still running when the time was up.
            _ => drop(fs::remove_file(file)),
        }
    }
    found.sort();
    found
}

/// The output of a guarded test during a hunt. It is kept if the test fails.
pub(crate) struct Catch {
    running: PathBuf,
}

impl Catch {
    /// Redirects the output of a test to a file, if there is a hunt.
    pub(crate) fn of(command: &mut Command, arguments: &[OsString]) -> io::Result<Option<Catch>> {
        let Some(directory) = env::var_os(DIRECTORY) else {
            return Ok(None);
        };
        let seed = env::var(SEED).unwrap_or_default();
        let binary = Path::new(&arguments[0]).file_stem().unwrap_or_default();
        // In nextest's command line, the name of the test is the argument that is not an option.
        let test = arguments[1..]
            .iter()
            .filter_map(|argument| argument.to_str());
        let test = test.rev().find(|argument| !argument.starts_with('-'));
        let test = test.unwrap_or("all");
        let name = format!("{}-{test}-{seed}", binary.display()).replace("::", "-");
        let running = Path::new(&directory)
            .join(name)
            .with_added_extension("running");
        let mut file = File::create(&running)?;
        let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
        writeln!(
            file,
            "{SEED}={seed} cargo nextest run --package {package} -E 'test(={test})'\n"
        )?;
        command.stdout(file.try_clone()?).stderr(file);
        Ok(Some(Catch { running }))
    }

    /// Prints the output of the test, and keeps it if the test failed.
    pub(crate) fn keep_if(self, failed: bool) {
        let text = fs::read(&self.running).unwrap_or_default();
        let _ = io::stdout().write_all(&text);
        let _ = match failed {
            true => fs::rename(&self.running, self.running.with_extension("txt")),
            false => fs::remove_file(&self.running),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that occurs only in generated tests.
    const SIGNS: [&str; 3] = ["proptest_config(", "TestRunner::new(", "compare(seeds("];

    fn for_each_source(directory: &Path, see: &mut impl FnMut(&Path, &str)) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                for_each_source(&path, see);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                see(&path, &fs::read_to_string(&path).unwrap());
            }
        }
    }

    #[test]
    fn every_generated_test_is_hunted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut count = 0;
        for part in ["crates", "examples"] {
            for_each_source(&root.join(part), &mut |path, text| {
                if !SIGNS.iter().any(|sign| text.contains(sign)) {
                    return;
                }
                count += 1;
                let path = path.with_extension("");
                let mut names = path.iter().filter_map(|name| name.to_str());
                assert!(
                    names.any(|name| GENERATED.contains(&name)),
                    "{} has generated tests: add it to the list",
                    path.display()
                );
            });
        }
        assert!(count > 20, "{count} files with generated tests");
    }
}
