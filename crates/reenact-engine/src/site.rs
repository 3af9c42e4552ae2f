//! The lines of the program at which operations happen, for people.
//!
//! An operation is announced at its caller's line. For some operations the caller is not the program: a guard that goes
//! out of scope is dropped by compiler-generated code, and a message that `collect` asks for is received by a line of
//! the standard library. Such a line is of no use to people, so where it is *shown*, the program's own line is searched
//! for on the stack.
//!
//! # Rules
//!
//! 1. A line is *inside* if it is in the source of Reenact's own crates, as the compiler was given it, or in that of
//!    std. Only this file decides that ([`is_inside`]).
//! 2. An announced line that is not inside is shown as it is.
//! 3. Otherwise the first frame of the stack that is not inside is shown, inlined frames included. The stack ends where
//!    the activity begins: the frames below belong to what runs it.
//! 4. If that frame is not known, because there is no debug information, nothing is shown rather than a line that may
//!    be wrong.
//! 5. Schedules and the identity of objects do not use the lines found here: for those the announced line stays the
//!    key.
//! 6. The search is made only to show something. Return addresses are collected each time; resolving them takes some
//!    milliseconds, so it is done once and cached. It is done [untracked](untracked), and nothing in it is an operation of
//!    the program.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    ffi::{c_int, c_void},
    fmt,
    panic::Location,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::external::untracked;

/// A line of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub(crate) struct Site {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Site { file, line, column } = self;
        write!(f, "{file}:{line}:{column}")
    }
}

impl Site {
    /// Returns the announced line, if it is in the program.
    pub(crate) fn announced(location: &'static Location<'static>) -> Option<Site> {
        (!is_inside(location.file())).then(|| Site {
            file: location.file(),
            line: location.line(),
            column: location.column(),
        })
    }

    /// Returns the line of the program that does the operation announced at this location, which the calling code is
    /// about to do or has just done.
    pub(crate) fn shown(location: &'static Location<'static>) -> Option<Site> {
        Site::behind(location)
            .copied()
            .or_else(|| Site::announced(location))
    }

    /// Like [`Site::shown`], but none if that is the announced line.
    pub(crate) fn behind(location: &'static Location<'static>) -> Option<&'static Site> {
        match Site::announced(location) {
            _ if IS_LOOKING.get() => None,
            None => found(),
            Some(site) => {
                with_known(|known| known.files.insert(site.file));
                None
            }
        }
    }

    /// Returns the line of the program that the calling code, a signal handler, has interrupted. Functions without a
    /// known line and those of the C library are skipped.
    #[cfg(feature = "explore")]
    pub(crate) fn of_stuck() -> Option<&'static Site> {
        with_known(|known| {
            let stack = format!("{:#}", Backtrace::force_capture());
            let mut frames = frames(&stack);
            frames.retain(|frame| {
                let is_rust = |(file, ..): (&str, _, _)| file.ends_with(".rs");
                frame.place.is_some_and(is_rust) || is_bottom(frame.name)
            });
            line_of_program(&frames, known)
        })
    }

    /// Returns this line, allocated permanently.
    pub(crate) fn kept(file: &str, line: u32, column: u32) -> &'static Site {
        with_known(|known| known.keep(file, line, column))
    }

    /// Formats it; empty if there is none.
    pub(crate) fn text(site: Option<Site>) -> String {
        site.map_or_else(String::new, |site| site.to_string())
    }
}

impl<'de> Deserialize<'de> for &'static Site {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<&'static Site, D::Error> {
        let (file, line, column) = <(&str, u32, u32)>::deserialize(deserializer)?;
        Ok(Site::kept(file, line, column))
    }
}

/// Returns ` at src/main.rs:3:5`, for the description of a wait; empty if the location is not in the program. The stack
/// is not searched, since waits are frequent and their descriptions seldom shown.
pub fn at(location: &'static Location<'static>) -> String {
    let site = Site::announced(location);
    site.map_or_else(String::new, |site| format!(" at {site}"))
}

/// The hash of the return addresses of a stack, and the line that was found for it.
pub(crate) type FoundSite = (u64, Option<&'static Site>);

/// Returns what was found since the last call: for another process that has the same code at the same addresses.
#[cfg(feature = "explore")]
pub(crate) fn news() -> Vec<FoundSite> {
    with_known(|known| std::mem::take(&mut known.news))
}

/// Adds what another process has found.
#[cfg(feature = "explore")]
pub(crate) fn learn((key, site): FoundSite) {
    with_known(|known| known.sites.insert(key, site));
}

/// Adds the path of a file of the program, as the compiler was given it.
#[cfg(feature = "explore")]
pub(crate) fn learn_file(file: &'static str) {
    with_known(|known| known.files.insert(file));
}

#[derive(Default)]
struct Known {
    sites: BTreeMap<u64, Option<&'static Site>>,
    news: Vec<FoundSite>,
    /// Files of the program, as the compiler was given them.
    files: BTreeSet<&'static str>,
    /// The folders that those are relative to, as far as they are known: debug information has absolute paths.
    roots: BTreeSet<String>,
    /// Permanently allocated lines, once each.
    kept: BTreeSet<&'static Site>,
}

impl Known {
    fn keep(&mut self, file: &str, line: u32, column: u32) -> &'static Site {
        let known = self.kept.iter().find(|known| known.file == file);
        let file = match known {
            Some(known) => known.file,
            None => Box::leak(file.to_owned().into_boxed_str()),
        };
        let site = Site { file, line, column };
        match self.kept.get(&site) {
            Some(known) => known,
            None => {
                let site = &*Box::leak(Box::new(site));
                self.kept.insert(site);
                site
            }
        }
    }
}

fn with_known<R>(action: impl FnOnce(&mut Known) -> R) -> R {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    IS_LOOKING.set(true);
    let result = untracked(|| {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        action(known.get_or_insert_default())
    });
    IS_LOOKING.set(false);
    result
}

thread_local! {
    /// Whether the calling thread is already searching. That allocates, and if the program's own allocator does an
    /// operation that is shown, it has no line.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// Returns the first line of the stack that is in the program.
#[cold]
#[inline(never)]
fn found() -> Option<&'static Site> {
    let key = key_of_stack();
    with_known(|known| {
        if let Some(&site) = known.sites.get(&key) {
            return site;
        }
        let stack = format!("{:#}", Backtrace::force_capture());
        let site = line_of_program(&frames(&stack), known);
        known.sites.insert(key, site);
        known.news.push((key, site));
        site
    })
}

/// A frame, as the unwinder of the C compiler's library describes it.
#[repr(C)]
pub(crate) struct UnwindContext(c_void);

unsafe extern "C" {
    /// Calls `visit` for each frame of the stack, innermost first, until it does not return 0.
    pub(crate) fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut UnwindContext, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    /// Returns the address of a frame, and whether it is that of an instruction that has not been executed yet.
    pub(crate) fn _Unwind_GetIPInfo(context: *mut UnwindContext, is_exact: &mut c_int) -> usize;
}

/// The number of frames that identify a stack.
const FRAMES: usize = 64;

/// Returns a hash of the return addresses on the stack.
fn key_of_stack() -> u64 {
    struct Frames {
        addresses: [usize; FRAMES],
        count: usize,
    }
    extern "C" fn visit(context: *mut UnwindContext, data: *mut c_void) -> c_int {
        const GO_ON: c_int = 0;
        const END: c_int = 5;
        // SAFETY: It is the pointer that is given below, and nothing else uses the frames meanwhile.
        let frames = unsafe { &mut *data.cast::<Frames>() };
        // SAFETY: The unwinder calls this with a context of its own.
        frames.addresses[frames.count] = unsafe { _Unwind_GetIPInfo(context, &mut 0) };
        frames.count += 1;
        match frames.count < FRAMES {
            true => GO_ON,
            false => END,
        }
    }
    let mut frames = Frames {
        addresses: [0; FRAMES],
        count: 0,
    };
    // SAFETY: The function is the one that std itself walks stacks with, so every program with std contains it. It
    // calls `visit` with a context and this pointer, which outlives the call, and stops when `visit` returns `END`.
    unsafe { _Unwind_Backtrace(visit, (&raw mut frames).cast()) };
    let mut bytes = [0; FRAMES * size_of::<usize>()];
    for (place, address) in bytes.chunks_mut(size_of::<usize>()).zip(frames.addresses) {
        place.copy_from_slice(&address.to_ne_bytes());
    }
    xxh3_64(&bytes)
}

/// This file, as the compiler was given it, and within its package.
const THIS: &str = file!();
const IN_PACKAGE: &str = "/src/site.rs";
/// Packages whose source is Reenact's own. Their tests and examples are programs.
const OWN: [&str; 5] = [
    "reenact",
    "reenact-engine",
    "reenact-http",
    "reenact-explore",
    "reenact-trace",
];

/// Returns whether a file is part of Reenact or of the standard library, by the path that the compiler has for it.
pub(crate) fn is_inside(file: &str) -> bool {
    is_of_std(file) || is_own(file, THIS)
}

fn is_of_std(file: &str) -> bool {
    // The source that comes with the toolchain, if it is installed; otherwise its path when the toolchain was built.
    let is_built = file.starts_with("/rustc/") && file.contains("/library/");
    is_built || file.contains("/rustlib/src/rust/library/") || file.starts_with("/rust/deps/")
}

/// Returns whether a file is in one of our packages. `this` is the path of this file in the same form: our packages are
/// side by side, and have the same version.
fn is_own(file: &str, this: &str) -> bool {
    let Some(package) = this.strip_suffix(IN_PACKAGE) else {
        return false;
    };
    let (folder, name) = match package.rfind('/') {
        Some(end) => package.split_at(end + 1),
        None => ("", package),
    };
    let version = name.strip_prefix("reenact-engine").unwrap_or_default();
    let Some((package, rest)) = file
        .strip_prefix(folder)
        .and_then(|file| file.split_once('/'))
    else {
        return false;
    };
    let package = package.strip_suffix(version).unwrap_or_default();
    OWN.contains(&package) && rest.starts_with("src/")
}

/// A frame of a stack, as std formats it.
struct Frame<'a> {
    name: &'a str,
    place: Option<(&'a str, u32, u32)>,
}

fn frames(stack: &str) -> Vec<Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    for line in stack.lines().map(str::trim_start) {
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.place = parse_place(place);
            }
            continue;
        }
        // `3: 0x55d0c0de - name`, or the name alone for an inlined frame.
        let is_numbered = line.starts_with(|first: char| first.is_ascii_digit());
        let name = match line.split_once(" - ") {
            Some((_, name)) if is_numbered => name,
            _ => line,
        };
        frames.push(Frame { name, place: None });
    }
    frames
}

fn parse_place(place: &str) -> Option<(&str, u32, u32)> {
    let (rest, last) = place.trim_end().rsplit_once(':')?;
    let last = last.parse().ok()?;
    let with_column = rest
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, line.parse().ok()?, last)));
    Some(with_column.unwrap_or((rest, last, 0)))
}

/// Returns the first line of a stack that is in the program.
fn line_of_program(frames: &[Frame<'_>], known: &mut Known) -> Option<&'static Site> {
    let places = || frames.iter().filter_map(|frame| frame.place);
    // The path of this file in the debug information.
    let tail_at = THIS.rfind("reenact-engine").unwrap_or_default();
    let this = places()
        .map(|(file, ..)| file)
        .find(|file| file.ends_with(&THIS[tail_at..]));
    let this = this.unwrap_or(THIS);
    let is_inside = |file: &str| is_of_std(file) || is_own(file, this);
    let mut found = None;
    for frame in frames {
        match frame.place {
            _ if is_bottom(frame.name) => break,
            Some((file, ..)) if is_inside(file) => {}
            None if is_name_inside(frame.name) => {}
            place => {
                found = place;
                break;
            }
        }
    }
    let (file, line, column) = found?;
    let outside = places().filter(|(file, ..)| !is_inside(file));
    let mut roots: BTreeSet<_> = outside
        .flat_map(|(whole, ..)| {
            known
                .files
                .iter()
                .filter_map(move |file| root_of(whole, file))
        })
        .map(str::to_owned)
        .collect();
    roots.extend(root_of(this, THIS).map(str::to_owned));
    known.roots.append(&mut roots);
    let mut within = known
        .roots
        .iter()
        .filter_map(|root| file.strip_prefix(&**root));
    let shown = within.next().unwrap_or(file).to_owned();
    Some(known.keep(&shown, line, column))
}

/// Returns the folder in which `whole` has the relative path `file`, with a slash at its end; none if they are the
/// same.
fn root_of<'a>(whole: &'a str, file: &str) -> Option<&'a str> {
    let root = whole.strip_suffix(file)?;
    root.ends_with('/').then_some(root)
}

/// Returns whether an activity begins here: on a stack of its own, or where the C library begins to run it.
fn is_bottom(name: &str) -> bool {
    const OF_C: [&str; 7] = [
        "start_thread",
        "clone",
        "clone3",
        "__clone3",
        "__libc_start_call_main",
        "__libc_start_main",
        "_start",
    ];
    let is_task = name.contains("reenact_engine::pool") && name.contains("Task");
    is_task
        || name.contains("reenact_engine::explore::fiber")
        || name.starts_with("corosensei")
        || OF_C.iter().any(|of_c| name.starts_with(of_c))
}

/// Returns whether a function of which only the name is known is part of Reenact or of the standard library.
fn is_name_inside(name: &str) -> bool {
    const CRATES: [&str; 7] = [
        "reenact",
        "reenact_engine",
        "reenact_trace",
        "reenact_http",
        "std",
        "core",
        "alloc",
    ];
    let path = name.trim_start_matches(['<', '&']);
    let is_of_crate = |name: &str| {
        path.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with("::"))
    };
    CRATES.into_iter().any(is_of_crate)
        || ["__rust_", "_Unwind_", "_R"]
            .into_iter()
            .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_packages_and_std_are_inside() {
        let this = "crates/reenact-engine/src/site.rs";
        assert!(is_own("crates/reenact/src/sync/mutex.rs", this));
        assert!(is_own("crates/reenact-engine/src/object.rs", this));
        assert!(!is_own("crates/reenact/tests/it/mutex.rs", this));
        assert!(!is_own("crates/reenact-bench/src/lib.rs", this));
        assert!(!is_own("home/me/crates/reenact/src/main.rs", this));
        let this = "/cargo/registry/src/index/reenact-engine-0.1.0/src/site.rs";
        assert!(is_own(
            "/cargo/registry/src/index/reenact-0.1.0/src/sync/mutex.rs",
            this
        ));
        assert!(!is_own(
            "/cargo/registry/src/index/reenact-0.2.0/src/sync/mutex.rs",
            this
        ));
        assert!(!is_own("/home/me/reenact/src/main.rs", this));
        assert!(!is_own("src/main.rs", this));
        assert!(is_of_std("/rustc/5980/library/core/src/ptr/mod.rs"));
        assert!(is_of_std(
            "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ptr/mod.rs"
        ));
        assert!(!is_of_std("library/core/src/ptr/mod.rs"));
    }

    #[track_caller]
    fn check(stack: &str, files: &[&'static str], expected: Option<&str>) {
        let mut known = Known::default();
        known.files.extend(files);
        let stack = stack.replace("THIS", &format!("/w/{THIS}"));
        let found = line_of_program(&frames(&stack), &mut known);
        assert_eq!(found.map(|site| site.to_string()).as_deref(), expected);
    }

    #[test]
    fn the_first_frame_of_the_program_counts_also_if_it_is_inlined() {
        let stack = "   0:     0x5581 - reenact_engine::site::found
                               at THIS:1:2
   1:     0x5582 - core::ptr::drop_in_place<x>
                               at /rustc/5980/library/core/src/ptr/mod.rs:805:1
                           program::inner
                               at /home/me/project/src/inner.rs:7:9
   2:     0x5583 - program::main
                               at /home/me/project/src/main.rs:3:5
";
        check(stack, &[], Some("/home/me/project/src/inner.rs:7:9"));
        check(stack, &["src/main.rs"], Some("src/inner.rs:7:9"));
    }

    #[test]
    fn a_frame_of_which_nothing_is_known_ends_the_search() {
        let stack = "   0:     0x5581 - reenact_engine::site::found
   1:     0x5582 - <reenact::sync::mutex::MutexGuard<T> as core::ops::drop::Drop>::drop
   2:     0x5582 - program::inner
   3:     0x5583 - program::main
                               at /home/me/project/src/main.rs:3:5
";
        check(stack, &[], None);
    }

    #[test]
    fn what_runs_a_thread_is_not_the_program() {
        let stack = "   0:     0x5581 - reenact_engine::site::found
                               at THIS:1:2
   1:     0x5582 - start_thread
                               at ./nptl/pthread_create.c:447:8
   2:     0x5583 - clone3
                               at ./misc/../sysdeps/unix/sysv/linux/x86_64/clone3.S:78
";
        check(stack, &[], None);
    }

    #[test]
    fn what_runs_a_fiber_is_not_looked_at() {
        let stack = "   0:     0x5581 - reenact_engine::site::found
                               at THIS:1:2
   1:     0x5582 - reenact_engine::explore::fiber::Fiber::new::{{closure}}
   2:     0x5583 - program::main
                               at /home/me/project/src/main.rs:3:5
";
        check(stack, &[], None);
    }
}
