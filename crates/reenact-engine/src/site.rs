//! Where in the program an operation is, for people.
//!
//! An operation is announced at its caller's line. Of some, the caller is not the program: a guard that goes out of scope is dropped
//! by code that the compiler has made, and a message that `collect` asks for is received by a line of the standard library. Such a
//! line says nothing to anybody, so where it is *shown*, the program's own line is found on the stack.
//!
//! # Rules
//!
//! 1. A line is *inside* if it is in the source of Reenact's own crates, as the compiler was given it, or in that of std. This file
//!    decides that, and nobody else ([`is_inside`]).
//! 2. A line that is announced and not inside is shown as it is.
//! 3. Otherwise the first frame of the stack that is not inside is shown, inlined ones included. The stack ends where the activity
//!    begins: what is below belongs to whoever runs it.
//! 4. Where that cannot be told, because there is no debug information, nothing is shown rather than a line that may be wrong.
//! 5. Schedules are not kept by what is found here, and objects not known by it: for that, what was announced stays the key.
//! 6. Only who shows something asks. Return addresses are collected each time; what they stand for is found out once, since that takes
//!    some milliseconds, and remembered. It is done [`apart`], and nothing in it is an operation of the program.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    ffi::{c_int, c_void},
    fmt,
    panic::Location,
    sync::{Mutex, PoisonError},
};

use xxhash_rust::xxh3::xxh3_64;

use crate::external::apart;

/// A line of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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
    /// The line that was announced, if it is one of the program.
    pub(crate) fn announced(location: &'static Location<'static>) -> Option<Site> {
        (!is_inside(location.file())).then(|| Site {
            file: location.file(),
            line: location.line(),
            column: location.column(),
        })
    }

    /// The line of the program that does what is announced at this one, which the calling code is about to do or has just done.
    pub(crate) fn shown(location: &'static Location<'static>) -> Option<Site> {
        Site::behind(location)
            .copied()
            .or_else(|| Site::announced(location))
    }

    /// The same, if it is another one than is announced.
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

    /// This line, kept for good.
    pub(crate) fn kept(file: &str, line: u32, column: u32) -> &'static Site {
        with_known(|known| known.keep(file, line, column))
    }

    /// As text, which is empty if there is none.
    pub(crate) fn text(site: Option<Site>) -> String {
        site.map_or_else(String::new, |site| site.to_string())
    }
}

/// ` at src/main.rs:3:5`, for a text that is made while somebody waits; nothing if that is no line of the program. Who waits does so
/// often, and what for is seldom shown, so it is not looked for.
pub fn at(location: &'static Location<'static>) -> String {
    let site = Site::announced(location);
    site.map_or_else(String::new, |site| format!(" at {site}"))
}

/// What a stack stands for, of which the return addresses have this hash.
pub(crate) type Found = (u64, Option<&'static Site>);

/// What was found out since this was asked last: for another process that has the same code at the same addresses.
pub(crate) fn news() -> Vec<Found> {
    with_known(|known| std::mem::take(&mut known.news))
}

/// Somebody else has found this out.
pub(crate) fn learn((key, site): Found) {
    with_known(|known| known.sites.insert(key, site));
}

#[derive(Default)]
struct Known {
    sites: BTreeMap<u64, Option<&'static Site>>,
    news: Vec<Found>,
    /// Files of the program, as the compiler was given them.
    files: BTreeSet<&'static str>,
    /// The folders in which that was, as far as they are known: debug information has whole paths.
    roots: BTreeSet<String>,
    /// What is kept for good, once each.
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
    let result = apart(|| {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        action(known.get_or_insert_default())
    });
    IS_LOOKING.set(false);
    result
}

thread_local! {
    /// Whether the calling thread is at this already. It needs memory for that, and if the program's own allocator does something that
    /// is shown, that has no line.
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// The first line of the stack that is the program's.
#[cold]
#[inline(never)]
fn found() -> Option<&'static Site> {
    let key = key_of_stack();
    with_known(|known| {
        if let Some(&site) = known.sites.get(&key) {
            return site;
        }
        let stack = format!("{:#}", Backtrace::force_capture());
        let site = line_of_program(&stack, known);
        known.sites.insert(key, site);
        known.news.push((key, site));
        site
    })
}

/// So many frames tell one stack from another.
const FRAMES: usize = 64;

/// A hash of the return addresses that are on the stack.
fn key_of_stack() -> u64 {
    #[repr(C)]
    struct Context(c_void);
    unsafe extern "C" {
        fn _Unwind_Backtrace(
            visit: extern "C" fn(*mut Context, *mut c_void) -> c_int,
            data: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(context: *mut Context) -> usize;
    }
    struct Frames {
        addresses: [usize; FRAMES],
        count: usize,
    }
    extern "C" fn visit(context: *mut Context, data: *mut c_void) -> c_int {
        const GO_ON: c_int = 0;
        const END: c_int = 5;
        // SAFETY: It is the pointer that is given below, to what nobody else uses meanwhile.
        let frames = unsafe { &mut *data.cast::<Frames>() };
        // SAFETY: The unwinder calls this with a context of its own.
        frames.addresses[frames.count] = unsafe { _Unwind_GetIP(context) };
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
    // SAFETY: The function is what std itself walks stacks with, and is in every program that std is in. It calls `visit`
    // with a context and this pointer, which outlives the call, and not after it has said that it has seen enough.
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
/// Packages whose source is Reenact's own. What is in their tests and examples is a program.
const OWN: [&str; 5] = [
    "reenact",
    "reenact-engine",
    "reenact-http",
    "reenact-multiverse",
    "reenact-trace",
];

/// Whether a file is part of Reenact or of the standard library, by the name that the compiler has for it.
pub(crate) fn is_inside(file: &str) -> bool {
    is_of_std(file) || is_own(file, THIS)
}

fn is_of_std(file: &str) -> bool {
    // The source that comes with the compiler, if it is there; otherwise where it was when that was built.
    let is_built = file.starts_with("/rustc/") && file.contains("/library/");
    is_built || file.contains("/rustlib/src/rust/library/") || file.starts_with("/rust/deps/")
}

/// Whether a file is in one of our packages, of which this file, named in the same way, is in one: they are side by side, and have the
/// same version.
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

/// A frame of a stack, as std shows it.
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
        // `3: 0x55d0c0de - name`, or the name alone, of one that is inlined.
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

/// The first line of a stack that is the program's.
fn line_of_program(stack: &str, known: &mut Known) -> Option<&'static Site> {
    let frames = frames(stack);
    let places = || frames.iter().filter_map(|frame| frame.place);
    // What this file is called there.
    let tail_at = THIS.rfind("reenact-engine").unwrap_or_default();
    let this = places()
        .map(|(file, ..)| file)
        .find(|file| file.ends_with(&THIS[tail_at..]));
    let this = this.unwrap_or(THIS);
    let is_inside = |file: &str| is_of_std(file) || is_own(file, this);
    let mut found = None;
    for frame in &frames {
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

/// The folder in which a file has this name, with a slash at its end, if its name is not whole already.
fn root_of<'a>(whole: &'a str, file: &str) -> Option<&'a str> {
    let root = whole.strip_suffix(file)?;
    root.ends_with('/').then_some(root)
}

/// Whether this is where an activity begins: on a stack of its own, or where the C library begins to run it.
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

/// Whether a function is part of Reenact or of the standard library, of which nothing but its name is known.
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
        assert!(is_own("crates/reenact-engine/src/entity.rs", this));
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
        let found = line_of_program(&stack, &mut known);
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
