//! Stacks, as std formats them: their frames, whose they are, and how they are shown.
//!
//! A stack is shown from the first frame of the program on. Frames of Reenact, of std and of what is below `main` are
//! folded: a run of them is one line, which says how many there are. Addresses and hashes, which differ from build to
//! build, are left out.

use std::{backtrace::Backtrace, fmt::Write};

use super::{is_of_std, is_own, with_known};
use crate::external::untracked;

/// A frame of a stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) place: Option<(&'a str, u32, u32)>,
}

/// Whose code a frame is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Program,
    Reenact,
    /// The standard library, or what is below `main` and below the first function of a thread.
    Runtime,
}

impl Frame<'_> {
    /// Returns whose code it is. `this` is the path of `site.rs` in the same form.
    pub(super) fn owner(&self, this: &str) -> Owner {
        match self.place {
            _ if is_bottom_of_c(self.name) => Owner::Runtime,
            Some((file, ..)) if is_own(file, this) => Owner::Reenact,
            Some((file, ..)) if is_of_std(file) || is_of_c_library(file) => Owner::Runtime,
            Some(_) => Owner::Program,
            None if is_name_of(self.name, &OF_REENACT) => Owner::Reenact,
            None if is_name_inside(self.name) || is_of_c(self.name) => Owner::Runtime,
            None => Owner::Program,
        }
    }

    /// Returns whether the harness of tests runs it.
    pub(super) fn is_of_harness(&self) -> bool {
        self.name.starts_with("test::") && self.place.is_none_or(|(file, ..)| is_of_std(file))
    }

    /// Returns whether nothing is known of it.
    pub(super) fn is_unknown(&self) -> bool {
        self.place.is_none() && matches!(self.name, "<unknown>" | "")
    }
}

/// Returns the stack as it is shown in a report: as a whole if the user asked for that with `RUST_BACKTRACE=full`.
pub(crate) fn shown(backtrace: &Backtrace) -> String {
    untracked(|| {
        let whole = format!("{backtrace:#}");
        // The environment of a replay is the recorded one; the command line passes on what its own says.
        let is_full = ["REENACT_BACKTRACE", "RUST_BACKTRACE"]
            .into_iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| value == "full"));
        match is_full {
            true => whole,
            false => with_known(|known| {
                let frames = frames(&whole);
                known.learn_roots(&frames, super::this_in(&frames));
                folded(&frames, &|file| known.shown_file(file))
            }),
        }
    })
}

/// Takes the place of a stack of which nothing is known.
const UNKNOWN: &str = "      … no functions are known: do not strip the program";

/// Formats frames, one after the other. `shown_file` shortens the path of a file.
fn folded(frames: &[Frame<'_>], shown_file: &dyn Fn(&str) -> String) -> String {
    let this = super::this_in(frames);
    let owners: Vec<_> = frames
        .iter()
        .filter(|frame| !frame.is_unknown())
        .map(|frame| (frame, frame.owner(this)))
        .collect();
    let mut text = String::new();
    let first = owners
        .iter()
        .position(|(_, owner)| *owner == Owner::Program);
    let Some(first) = first else {
        let _ = match owners.is_empty() {
            true => writeln!(text, "{UNKNOWN}"),
            false => writeln!(text, "      … {}", folded_run(&owners)),
        };
        return text;
    };
    let of_program = |(_, owner): &(&Frame<'_>, Owner)| *owner == Owner::Program;
    let runs = owners[first..].chunk_by(|one, next| of_program(one) == of_program(next));
    let mut number = 0;
    for run in runs {
        if !of_program(&run[0]) {
            let _ = writeln!(text, "      … {}", folded_run(run));
            continue;
        }
        for (frame, _) in run {
            let _ = writeln!(text, "{number:>4}: {}", frame.name);
            if let Some((file, line, column)) = frame.place {
                let _ = writeln!(text, "             at {}:{line}:{column}", shown_file(file));
            }
            number += 1;
        }
    }
    text
}

/// Says how many frames there are, and of what.
fn folded_run(run: &[(&Frame<'_>, Owner)]) -> String {
    let has = |owner| run.iter().any(|(_, of)| *of == owner);
    let of = match (has(Owner::Reenact), has(Owner::Runtime)) {
        (true, true) => "Reenact and the standard library",
        (true, false) => "Reenact",
        _ => "the standard library",
    };
    match run.len() {
        1 => format!("1 frame of {of}"),
        count => format!("{count} frames of {of}"),
    }
}

pub(super) fn frames(stack: &str) -> Vec<Frame<'_>> {
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
        let name = without_hash(name);
        frames.push(Frame { name, place: None });
    }
    frames
}

/// Returns the name of a function without the hash at its end.
fn without_hash(name: &str) -> &str {
    const HASH: usize = 16;
    match name.rsplit_once("::h") {
        Some((name, hash))
            if hash.len() == HASH && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            name
        }
        _ => name,
    }
}

fn parse_place(place: &str) -> Option<(&str, u32, u32)> {
    let (rest, last) = place.trim_end().rsplit_once(':')?;
    let last = last.parse().ok()?;
    let with_column = rest
        .rsplit_once(':')
        .and_then(|(file, line)| Some((file, line.parse().ok()?, last)));
    Some(with_column.unwrap_or((rest, last, 0)))
}

/// Returns whether an activity begins here: on a stack of its own, or where the C library begins to run it.
pub(super) fn is_bottom(name: &str) -> bool {
    let is_task = name.contains("reenact_engine::pool") && name.contains("Task");
    is_task
        || name.contains("reenact_engine::explore::fiber")
        || name.starts_with("corosensei")
        || is_bottom_of_c(name)
}

/// Returns whether the C library begins to run a thread here.
fn is_bottom_of_c(name: &str) -> bool {
    const OF_C: [&str; 7] = [
        "start_thread",
        "clone",
        "clone3",
        "__clone3",
        "__libc_start_call_main",
        "__libc_start_main",
        "_start",
    ];
    OF_C.iter().any(|of_c| name.starts_with(of_c))
}

/// Returns whether a file is part of the C library, whose debug information may be installed.
fn is_of_c_library(file: &str) -> bool {
    file.starts_with("./") && [".c", ".S"].iter().any(|end| file.ends_with(end))
}

/// Returns whether a function of which only the name is known is one of the C library that Reenact defines, or `main`
/// as the C library calls it.
fn is_of_c(name: &str) -> bool {
    [
        "main",
        "__GI_exit",
        "__run_exit_handlers",
        "exit",
        "getrusage",
        "open",
        "open64",
        "pthread_create",
        "times",
    ]
    .contains(&name)
}

const OF_REENACT: [&str; 5] = [
    "reenact",
    "reenact_engine",
    "reenact_explore",
    "reenact_trace",
    "reenact_http",
];

/// Returns whether a function of which only the name is known is part of Reenact or of the standard library.
pub(super) fn is_name_inside(name: &str) -> bool {
    is_name_of(name, &OF_REENACT)
        || is_name_of(name, &["std", "core", "alloc"])
        || ["__rust_", "_Unwind_", "_R"]
            .into_iter()
            .any(|start| name.starts_with(start))
}

/// Returns whether a function is part of one of these crates, by its name.
fn is_name_of(name: &str, crates: &[&str]) -> bool {
    let path = name.trim_start_matches(['<', '&']);
    crates.iter().any(|name| {
        path.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with("::"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stack: &str, expected: &str) {
        let stack = stack.replace("THIS", &format!("/w/{}", super::super::THIS));
        assert_eq!(folded(&frames(&stack), &str::to_owned), expected);
    }

    #[test]
    fn a_stack_is_shown_from_the_first_frame_of_the_program_on() {
        let stack =
            "   0:     0x5581 - reenact_engine::replay::report::Difference::here::h0123456789abcdef
                               at THIS:1:2
   1:     0x5582 - program::worker::{{closure}}::hfedcba9876543210
                               at /home/me/src/main.rs:7:9
   2:     0x5583 - core::ops::function::FnOnce::call_once::h0123456789abcdef
                               at /rustc/5980/library/core/src/ops/function.rs:250:5
                           program::inlined
                               at /home/me/src/main.rs:3:5
   3:     0x5584 - reenact_engine::thread::Running::start::h0123456789abcdef
                               at THIS:3:4
   4:     0x5585 - std::sys::thread::start
                               at /rustc/5980/library/std/src/sys/thread.rs:5:1
   5:     0x5586 - start_thread
                               at ./nptl/pthread_create.c:447:8
";
        check(
            stack,
            "   0: program::worker::{{closure}}
             at /home/me/src/main.rs:7:9
      … 1 frame of the standard library
   1: program::inlined
             at /home/me/src/main.rs:3:5
      … 3 frames of Reenact and the standard library
",
        );
    }

    #[test]
    fn a_stack_without_debug_information_is_shown_by_names() {
        let stack = "   0:     0x5581 - reenact_engine::site::found::h0123456789abcdef
   1:     0x5582 - <reenact::sync::mutex::MutexGuard<T> as core::ops::drop::Drop>::drop::h0123456789abcdef
   2:     0x5582 - <program::Account as program::Drain>::drain::h0123456789abcdef
   3:     0x5583 - std::sys::backtrace::__rust_begin_short_backtrace::h0123456789abcdef
   4:     0x5584 - main
   5:     0x5585 - <unknown>
   6:     0x5586 - __libc_start_main
";
        check(
            stack,
            "   0: <program::Account as program::Drain>::drain
      … 3 frames of the standard library
",
        );
    }

    #[test]
    fn a_stack_without_the_program_is_one_line() {
        check(
            "   0:     0x5581 - reenact_engine::activity::leave::h0123456789abcdef
   1:     0x5582 - __run_exit_handlers
   2:     0x5583 - <unknown>
   3:     0x5584 - start_thread
",
            "      … 3 frames of Reenact and the standard library\n",
        );
    }

    #[test]
    fn a_stack_without_symbols_says_so() {
        check(
            "   0:     0x5581 - <unknown>\n   1:     0x5582 - <unknown>\n",
            &format!("{UNKNOWN}\n"),
        );
    }
}
