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

mod stack;

use std::{
    backtrace::Backtrace,
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    ffi::{c_int, c_void},
    fmt,
    panic::Location,
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use self::stack::shown as shown_stack;
use self::stack::{Frame, Owner, frames, is_bottom, is_name_inside};
use crate::{external::untracked, unrecorded::Code};

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
    /// The code that stacks work for, by the hash of their return addresses.
    codes: BTreeMap<u64, Code>,
}

impl Known {
    /// Learns the folders that files of the program are relative to. `this` is the path of this file in the frames.
    fn learn_roots(&mut self, frames: &[Frame<'_>], this: &str) {
        let places = frames.iter().filter_map(|frame| frame.place);
        let outside = places.filter(|(file, ..)| !is_of_std(file) && !is_own(file, this));
        let mut roots: BTreeSet<_> = outside
            .flat_map(|(whole, ..)| {
                self.files
                    .iter()
                    .filter_map(move |file| root_of(whole, file))
            })
            .map(str::to_owned)
            .collect();
        roots.extend(root_of(this, THIS).map(str::to_owned));
        self.roots.append(&mut roots);
    }

    /// Returns the path of a file relative to the program's folder, if that is known.
    fn in_root<'a>(&self, file: &'a str) -> &'a str {
        let mut within = self
            .roots
            .iter()
            .filter_map(|root| file.strip_prefix(&**root));
        within.next().unwrap_or(file)
    }

    /// Like [`Known::in_root`]. A file of a published package is shown by the package, and one in the current directory
    /// without that.
    fn shown_file(&self, file: &str) -> String {
        let in_package = file
            .split_once("/registry/src/")
            .and_then(|(_, rest)| rest.split_once('/'));
        match in_package {
            Some((_, rest)) => rest.to_owned(),
            None => {
                let shown = self.in_root(file);
                let here = std::env::current_dir().unwrap_or_default();
                let within = Path::new(shown).strip_prefix(&here);
                within.map_or_else(|_| shown.to_owned(), |path| path.display().to_string())
            }
        }
    }

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
struct UnwindContext(c_void);

unsafe extern "C" {
    /// Calls `visit` for each frame of the stack, innermost first, until it does not return 0.
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut UnwindContext, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    /// Returns the address of a frame, and whether it is that of an instruction that has not been executed yet.
    fn _Unwind_GetIPInfo(context: *mut UnwindContext, is_exact: &mut c_int) -> usize;
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

/// Returns the first line of a stack that is in the program.
fn line_of_program(frames: &[Frame<'_>], known: &mut Known) -> Option<&'static Site> {
    let this = this_in(frames);
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
    known.learn_roots(frames, this);
    let shown = known.in_root(file).to_owned();
    Some(known.keep(&shown, line, column))
}

/// Returns the stack of the calling code. Here and not there, because this file has to be in it, by whose path our own
/// files are known.
#[cold]
#[inline(never)]
pub(crate) fn stack() -> Backtrace {
    Backtrace::force_capture()
}

/// Returns the path of this file in the debug information of these frames.
fn this_in<'a>(frames: &[Frame<'a>]) -> &'a str {
    let tail_at = THIS.rfind("reenact-engine").unwrap_or_default();
    frames
        .iter()
        .filter_map(|frame| Some(frame.place?.0))
        .find(|file| file.ends_with(&THIS[tail_at..]))
        .unwrap_or(THIS)
}

/// How many stacks are kept whose code has been found.
const MOST_CODES: usize = 1024;

/// Returns the code of the program, or of a library, that the calling code works for. Needs no lines: it is for notes,
/// in which a function is better than nothing.
#[cold]
#[inline(never)]
pub(crate) fn code_of_caller() -> Code {
    if IS_LOOKING.get() {
        return Code::Unknown;
    }
    let key = key_of_stack();
    with_known(|known| {
        if let Some(code) = known.codes.get(&key) {
            return code.clone();
        }
        if known.codes.len() >= MOST_CODES {
            return Code::Unknown;
        }
        let stack = format!("{:#}", Backtrace::force_capture());
        let code = code_of(&frames(&stack), known);
        known.codes.insert(key, code.clone());
        code
    })
}

fn code_of(frames: &[Frame<'_>], known: &mut Known) -> Code {
    let this = this_in(frames);
    known.learn_roots(frames, this);
    let above = frames.iter().take_while(|frame| !is_bottom(frame.name));
    for frame in above {
        if frame.is_of_harness() {
            return Code::Harness;
        }
        if frame.is_unknown() || frame.owner(this) != Owner::Program {
            continue;
        }
        return match frame.place {
            Some((file, line, _)) => Code::Line(format!("{}:{line}", known.shown_file(file))),
            None => Code::Function(frame.name.to_owned()),
        };
    }
    Code::Unknown
}

/// Returns the folder in which `whole` has the relative path `file`, with a slash at its end; none if they are the
/// same.
fn root_of<'a>(whole: &'a str, file: &str) -> Option<&'a str> {
    let root = whole.strip_suffix(file)?;
    root.ends_with('/').then_some(root)
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
