//! `cargo xtask hunt`: runs the generated tests with new seeds until the time is up, or until each has tried so many
//! programs.
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
    cargo::{nextest_in, run_command, target},
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

/// How many cases a test tries: see `reenact_testing::generated`.
const CASES: &str = "REENACT_CASES";
/// How many programs a test tries in one round of a hunt for a number of them. Each round is a process with a timeout.
const PROGRAMS_PER_ROUND: u64 = 250;

/// The suites that record and replay generated programs, by name, and the test binaries of `reenact` that contain them.
const SUITES: &[(&str, &str)] = &[
    ("mixed", "mixed"),
    ("actors", "actors"),
    ("csp", "csp"),
    ("stm", "stm"),
    ("locks", "it"),
    ("outside", "outside"),
];

/// What to hunt for, and how long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunt {
    limit: Limit,
    is_release: bool,
    /// The test binaries; all if there is none.
    binaries: Vec<&'static str>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Limit {
    Minutes(u64),
    /// For each test.
    Programs(u64),
}

impl Hunt {
    /// Parses the arguments of `cargo xtask hunt`.
    pub(crate) fn parse(words: &[&str]) -> Option<Hunt> {
        let mut hunt = Hunt {
            limit: Limit::Minutes(10),
            is_release: false,
            binaries: Vec::new(),
        };
        let positive = |word: &str| word.parse().ok().filter(|&number| number > 0);
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let suite = SUITES.iter().find(|(name, _)| *name == word);
            match (word, suite) {
                (_, Some((_, binary))) => hunt.binaries.push(binary),
                ("--release", _) => hunt.is_release = true,
                ("--programs", _) => hunt.limit = Limit::Programs(positive(words.next()?)?),
                _ => hunt.limit = Limit::Minutes(positive(word)?),
            }
        }
        Some(hunt)
    }

    /// Returns a call of nextest with these arguments, for what is hunted.
    fn nextest(&self, arguments: &[&str]) -> Result<Command, String> {
        let profile: &[&str] = if self.is_release { &["--release"] } else { &[] };
        let packages: &[&str] = match self.binaries[..] {
            [] => &["--workspace"],
            _ => &["--package", "reenact"],
        };
        nextest_in(packages, &[profile, arguments].concat())
    }

    /// Returns which tests to run, as a filter of nextest.
    fn filter(&self) -> String {
        let generated = format!(r"test(/(^|::)({})::/)", GENERATED.join("|"));
        let binaries = self.binaries.iter().map(|name| format!("binary(={name})"));
        match binaries.collect::<Vec<_>>() {
            all if all.is_empty() => generated,
            some => format!("{generated} & ({})", some.join(" | ")),
        }
    }
}

pub(crate) fn run(hunt: &Hunt) -> Result<(), String> {
    // Build before the time starts.
    run_command(hunt.nextest(&["--no-run"])?)?;
    let (minutes, mut programs) = match hunt.limit {
        Limit::Minutes(minutes) => (minutes, None),
        Limit::Programs(programs) => (u64::from(u32::MAX), Some(programs)),
    };
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let second = SystemTime::now().duration_since(UNIX_EPOCH);
    let second = second.map_or(0, |time| time.as_secs());
    let directory = target()?.join("hunt").join(second.to_string());
    let filter = hunt.filter();
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut rounds = 0;
    while Instant::now() < end && programs != Some(0) {
        rounds += 1;
        // Fits any integer type that reads it.
        let seed = RandomState::new().hash_one(rounds) >> 32;
        let mut tests = hunt.nextest(&["-E", &filter, "--status-level", "fail"])?;
        tests.env(SEED, seed.to_string()).env(DIRECTORY, &directory);
        if let Some(left) = &mut programs {
            let now = PROGRAMS_PER_ROUND.min(*left);
            *left -= now;
            tests.env(CASES, now.to_string());
            eprintln!("xtask: round {rounds}, seed {seed}, {now} programs per test, {left} left");
        } else {
            eprintln!("xtask: round {rounds}, seed {seed}");
        }
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
        let cases = env::var(CASES).map_or(String::new(), |cases| format!("{CASES}={cases} "));
        let profile = match Path::new(&arguments[0]).ancestors().nth(2) {
            Some(profile) if profile.ends_with("release") => "--release ",
            _ => "",
        };
        writeln!(
            file,
            "{SEED}={seed} {cases}cargo nextest run {profile}--package {package} -E 'test(={test})'\n"
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
    fn arguments_say_what_to_hunt_and_how_long() {
        let hunt = |limit, is_release, binaries| {
            Some(Hunt {
                limit,
                is_release,
                binaries,
            })
        };
        let ten_minutes = hunt(Limit::Minutes(10), false, vec![]);
        assert_eq!(Hunt::parse(&[]), ten_minutes);
        assert_eq!(
            Hunt::parse(&["30", "--release"]),
            hunt(Limit::Minutes(30), true, vec![])
        );
        assert_eq!(
            Hunt::parse(&["--programs", "10000", "locks", "stm"]),
            hunt(Limit::Programs(10_000), false, vec!["it", "stm"])
        );
        for wrong in [
            &["0"][..],
            &["--programs"],
            &["--programs", "x"],
            &["nothing"],
        ] {
            assert_eq!(Hunt::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn suites_are_test_binaries_with_generated_tests() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/reenact/tests");
        for (name, binary) in SUITES {
            let generated = tests.join(binary).join("generated.rs");
            assert!(generated.is_file(), "{name}: {}", generated.display());
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
