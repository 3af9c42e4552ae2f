//! What a recording of a program does not contain: what the program noted while it was recorded, and the libraries that
//! it is linked with whose order is not recorded.
//!
//! Libraries are found in the executable: by the names of its functions and, if it is stripped, by the paths of source
//! files that panics are reported with. What Reenact itself is linked with does not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::Path,
};

use object::{Object, ObjectSection, ObjectSymbol, ReadCache};
use reenact_engine::{Unrecorded, unrecorded};
use reenact_trace::{Trace, identify};

/// Returns what the recording does not contain. `executable` is the program, if it is still the recorded one.
pub(crate) fn of(trace: &Trace, executable: Option<&Path>) -> Vec<Unrecorded> {
    let mut all = unrecorded(trace);
    all.extend(executable.into_iter().flat_map(of_executable));
    all
}

/// Like [`of`], with the executable that the trace names, if it is there and has not changed.
pub(crate) fn of_recorded(trace: &Trace) -> Vec<Unrecorded> {
    let program = trace.program();
    let executable = Some(&*program.executable).filter(|executable| {
        // A trace may name anything, such as a pipe that is never written to.
        executable.is_file() && identify(executable).ok() == Some(program.build_id)
    });
    of(trace, executable)
}

/// A library whose order is not recorded.
struct Library {
    /// Its packages; the first gives it its name.
    packages: &'static [&'static str],
    /// The modules of the first package that count; empty if all do. The others are Reenact's as well.
    modules: &'static [&'static str],
    consequence: &'static str,
    remedy: &'static str,
}

const TASKS: &str = "which of its tasks runs when is not recorded, and a replay may differ";
const NO_TASKS: &str = "use reenact::actor or reenact::csp where the order matters, and bring in what its tasks produce \
                        through reenact::source";
const LOCKS: &str = "the order of its locks is not recorded, and a replay may differ";
const NO_LOCKS: &str = "use the locks of reenact::sync where the order matters";
const MESSAGES: &str = "the order of its messages is not recorded, and a replay may differ";
const NO_MESSAGES: &str =
    "use reenact::csp, which has the names of crossbeam-channel, or reenact::sync::mpsc";
const ACCESS: &str =
    "the order of what threads do with it is not recorded, and a replay may differ";
const NO_ACCESS: &str =
    "guard a collection of std with a lock of reenact::sync where the order matters";
const JOBS: &str = "which thread runs which of its jobs is not recorded, and a replay may differ";
const NO_JOBS: &str = "use reenact::thread::scope or reenact::csp where the order matters";

const LIBRARIES: &[Library] = &[
    library(&["tokio"], TASKS, NO_TASKS),
    library(&["async-std"], TASKS, NO_TASKS),
    library(
        &[
            "smol",
            "async-executor",
            "async-io",
            "async-global-executor",
        ],
        TASKS,
        NO_TASKS,
    ),
    library(&["futures-executor"], TASKS, NO_TASKS),
    library(&["rayon", "rayon-core"], JOBS, NO_JOBS),
    library(&["threadpool"], JOBS, NO_JOBS),
    library(&["parking_lot", "parking_lot_core"], LOCKS, NO_LOCKS),
    library(&["async-lock"], LOCKS, NO_LOCKS),
    library(&["spin"], LOCKS, NO_LOCKS),
    library(&["crossbeam-channel"], MESSAGES, NO_MESSAGES),
    library(&["flume"], MESSAGES, NO_MESSAGES),
    library(&["kanal"], MESSAGES, NO_MESSAGES),
    library(&["async-channel"], MESSAGES, NO_MESSAGES),
    library(&["crossbeam-queue"], ACCESS, NO_ACCESS),
    library(&["crossbeam-skiplist"], ACCESS, NO_ACCESS),
    library(&["concurrent-queue"], ACCESS, NO_ACCESS),
    library(&["dashmap"], ACCESS, NO_ACCESS),
    library(&["scc"], ACCESS, NO_ACCESS),
    library(&["arc-swap"], ACCESS, NO_ACCESS),
    Library {
        packages: &["crossbeam-utils"],
        modules: &["thread", "sync"],
        consequence: LOCKS,
        remedy: "use reenact::thread and reenact::sync where the order matters",
    },
];

const fn library(
    packages: &'static [&'static str],
    consequence: &'static str,
    remedy: &'static str,
) -> Library {
    Library {
        packages,
        modules: &[],
        consequence,
        remedy,
    }
}

/// Libraries that another crate of ours is linked with. If a program uses that, it need not use them itself.
const OF_OURS: [(&str, &str); 1] = [("reenact-http", "tokio")];

/// Functions by which C code takes locks and waits.
const OF_C: [&str; 4] = [
    MUTEX,
    "pthread_cond_wait",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
];

const MUTEX: &str = "pthread_mutex_lock";
/// A Rust package that takes such a lock too, but only where the system has no call for random numbers. If a program
/// has it, the function does not show whether there is C code.
const TAKES_MUTEX: &str = "getrandom";

/// What an executable is made of, as far as it can be seen.
#[derive(Default, Debug)]
struct Contents {
    /// Packages by name, and their versions where those are known.
    packages: BTreeMap<String, Option<String>>,
    /// Modules of packages, as in `crossbeam_utils::sync`.
    modules: BTreeSet<String>,
    /// The functions that it takes from shared libraries.
    imports: BTreeSet<String>,
}

fn of_executable(executable: &Path) -> Vec<Unrecorded> {
    Contents::read(executable).map_or_else(Vec::new, |contents| contents.unrecorded())
}

impl Contents {
    /// Reads the parts of an executable in which names are. `None` if it cannot be read, or is not an executable.
    fn read(executable: &Path) -> Option<Contents> {
        let cache = ReadCache::new(File::open(executable).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let mut contents = Contents::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else {
                continue;
            };
            match symbol.is_undefined() {
                true => drop(contents.imports.insert(name.to_owned())),
                false => contents.add_function(name),
            }
        }
        // The paths of source files are constants.
        let constants = file.section_by_name(".rodata");
        if let Some(bytes) = constants.and_then(|section| section.data().ok()) {
            contents.add_paths(bytes);
        }
        Some(contents)
    }

    fn add_function(&mut self, symbol: &str) {
        let Ok(name) = rustc_demangle::try_demangle(symbol) else {
            return;
        };
        let name = format!("{name:#}");
        let mut path = name.trim_start_matches(['<', '&']).split("::");
        let (Some(package), Some(module)) = (path.next(), path.next()) else {
            return;
        };
        if !LIBRARIES.iter().any(|library| library.is_of_crate(package))
            && !OF_OURS.iter().any(|(ours, _)| is_name_of(package, ours))
            && package != TAKES_MUTEX
        {
            return;
        }
        self.modules.insert(format!("{package}::{module}"));
        self.packages.entry(package.replace('_', "-")).or_default();
    }

    /// Adds the packages in the paths of source files, such as `…/tokio-1.54.1/src/runtime/mod.rs`.
    fn add_paths(&mut self, bytes: &[u8]) {
        const SOURCE: &[u8] = b"/src/";
        /// No directory of a package has a longer name.
        const LONGEST: usize = 100;
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (at, _) in slashes.filter(|(at, _)| bytes[*at..].starts_with(SOURCE)) {
            let before = &bytes[at.saturating_sub(LONGEST)..at];
            let Some(start) = before.iter().rposition(|byte| *byte == b'/') else {
                continue;
            };
            let Ok(directory) = std::str::from_utf8(&before[start + 1..]) else {
                continue;
            };
            let has_version = |(at, _): &(usize, &str)| {
                directory[at + 1..].starts_with(|first: char| first.is_ascii_digit())
            };
            let split = directory.match_indices('-').find(has_version);
            let (package, version) = match split {
                Some((at, _)) => (&directory[..at], Some(directory[at + 1..].to_owned())),
                None if OF_OURS.iter().any(|(ours, _)| *ours == directory) => (directory, None),
                None => continue,
            };
            let package = self.packages.entry(package.replace('_', "-")).or_default();
            *package = version.or(package.take());
        }
    }

    fn unrecorded(&self) -> Vec<Unrecorded> {
        let libraries = LIBRARIES
            .iter()
            .filter(|library| library.is_in(self))
            .map(|library| Unrecorded {
                what: format!("the program is linked with {}", self.name_of(library)),
                consequence: library.consequence,
                remedy: library.remedy,
            });
        let mut all: Vec<_> = libraries.collect();
        let is_of_c = |function: &&str| {
            let is_told_apart = *function != MUTEX || !self.packages.contains_key(TAKES_MUTEX);
            self.imports.contains(*function) && is_told_apart
        };
        if OF_C.iter().any(is_of_c) {
            all.push(Unrecorded {
                what: "the program is linked with C code that takes locks of POSIX threads".to_owned(),
                consequence: "their order is not recorded, and a replay may differ",
                remedy: "let one thread at a time call it, with a lock of reenact::sync, where the order matters",
            });
        }
        all
    }

    /// Returns the name of a library with its version, if that is known.
    fn name_of(&self, library: &Library) -> String {
        let name = library.packages[0];
        match self.packages.get(&name.replace('_', "-")) {
            Some(Some(version)) => format!("{name} {version}"),
            _ => name.to_owned(),
        }
    }
}

impl Library {
    fn is_of_crate(&self, name: &str) -> bool {
        self.packages
            .iter()
            .any(|package| is_name_of(name, package))
    }

    fn is_in(&self, contents: &Contents) -> bool {
        let has = |package: &&str| contents.packages.contains_key(&package.replace('_', "-"));
        let is_ours = OF_OURS
            .iter()
            .any(|(ours, theirs)| self.packages.contains(theirs) && has(ours));
        let is_used = match self.modules {
            [] => self.packages.iter().any(has),
            modules => modules.iter().any(|module| {
                let package = self.packages[0].replace('-', "_");
                contents.modules.contains(&format!("{package}::{module}"))
            }),
        };
        is_used && !is_ours
    }
}

/// Returns whether a crate is of this package.
fn is_name_of(name: &str, package: &str) -> bool {
    name.len() == package.len() && name.replace('_', "-") == package.replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(contents: &Contents) -> Vec<String> {
        contents
            .unrecorded()
            .into_iter()
            .map(|unrecorded| unrecorded.what)
            .collect()
    }

    #[test]
    fn libraries_are_known_by_the_names_of_their_functions() {
        let mut contents = Contents::default();
        for symbol in [
            "_ZN5tokio7runtime7Runtime8block_on17h0123456789abcdefE",
            "_ZN78_$LT$parking_lot..raw_mutex..RawMutex$u20$as$u20$lock_api..mutex..RawMutex$GT$4lock17h0123456789abcdefE",
            "_RNvMs0_NtCs1_10rayon_core8registryNtB5_8Registry3new",
            "_ZN10tokio_demo4main17h0123456789abcdefE",
            "_ZN13crossbeam_deque5deque5Steal17h0123456789abcdefE",
            "_ZN15crossbeam_epoch8internal5Local17h0123456789abcdefE",
            "_ZN15crossbeam_utils12cache_padded3new17h0123456789abcdefE",
        ] {
            contents.add_function(symbol);
        }
        let expected = ["tokio", "rayon", "parking_lot"];
        assert_eq!(
            lines(&contents),
            expected.map(|name| format!("the program is linked with {name}"))
        );
    }

    #[test]
    fn libraries_of_a_stripped_program_are_known_by_the_paths_of_their_files() {
        let mut contents = Contents::default();
        contents.add_paths(
            b"\0src/main.rs/home/me/.cargo/registry/src/index-1949/tokio-1.54.1/src/runtime/mod.rs\
              /home/me/.cargo/registry/src/index-1949/crossbeam-epoch-0.9.21/src/internal.rs\
              /home/me/rayon/src/main.rs/rustc/5980/library/core/src/ptr/mod.rs\xff/src/",
        );
        assert_eq!(
            lines(&contents),
            ["the program is linked with tokio 1.54.1"]
        );
        // It may be Reenact's server alone that uses tokio.
        contents.add_paths(b"crates/reenact-http/src/server.rs");
        assert_eq!(lines(&contents), [""; 0]);
    }

    #[test]
    fn c_code_is_known_by_the_locks_that_it_takes() {
        let mut contents = Contents::default();
        contents.imports.insert(MUTEX.to_owned());
        let expected = ["the program is linked with C code that takes locks of POSIX threads"];
        assert_eq!(lines(&contents), expected);
        contents.add_function("_ZN9getrandom8use_file15getrandom_inner17h0123456789abcdefE");
        assert_eq!(lines(&contents), [""; 0]);
        contents.imports.insert("pthread_cond_wait".to_owned());
        assert_eq!(lines(&contents), expected);
    }

    #[test]
    fn part_of_a_library_that_reenact_uses_is_not_the_library() {
        let mut contents = Contents::default();
        contents.add_function("_ZN15crossbeam_utils7backoff7Backoff17h0123456789abcdefE");
        assert_eq!(lines(&contents), [""; 0]);
        contents.add_function("_ZN15crossbeam_utils4sync6parker6Parker17h0123456789abcdefE");
        assert_eq!(
            lines(&contents),
            ["the program is linked with crossbeam-utils"]
        );
    }
}
