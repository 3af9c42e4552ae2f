//! A program that was written for std compiles after a change of its imports, computes the same, and can be replayed.

use crate::run::Run;

mod of_reenact;
mod of_std;

struct Ported {
    name: &'static str,
    /// Its source, which is the same for std and for reenact.
    source: &'static str,
    /// The same compiled, with std and with reenact. Each returns its result, and how it came to it, which differs from run
    /// to run.
    programs: [fn() -> (String, String); 2],
    right_result: &'static str,
}

macro_rules! ported {
    ($name:ident, $right_result:literal) => {
        Ported {
            name: stringify!($name),
            source: include_str!(concat!(
                "../../examples/programs/ported/",
                stringify!($name),
                ".rs"
            )),
            programs: [
                of_std::programs::$name::run,
                of_reenact::programs::$name::run,
            ],
            right_result: $right_result,
        }
    };
}

const ALL: [Ported; 4] = [
    ported!(
        word_count,
        r#"[("the", 175), ("a", 100), ("dog", 100), ("fox", 100)]"#
    ),
    ported!(thread_pool, "328350 100 ThreadPool { workers: 3 }"),
    ported!(
        sieve,
        "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]"
    ),
    ported!(quicksort, "true 4500416"),
];

/// The imports, and the other lines.
fn taken_apart(file: &str) -> (Vec<&str>, Vec<&str>) {
    file.lines().partition(|line| line.starts_with("use "))
}

#[test]
fn a_port_is_a_change_of_imports() {
    let (of_std, std_rest) = taken_apart(include_str!("ported/of_std.rs"));
    let (of_reenact, reenact_rest) = taken_apart(include_str!("ported/of_reenact.rs"));
    assert_eq!(std_rest, reenact_rest);
    assert_eq!(of_std, ["use std::{sync, thread};"]);
    assert_eq!(of_reenact, ["use reenact::{sync, thread};"]);
    for ported in ALL {
        for name in ["std::sync", "std::thread", "reenact"] {
            assert!(!ported.source.contains(name), "{}: {name}", ported.name);
        }
    }
}

#[test]
fn a_ported_program_computes_the_same() {
    for ported in ALL {
        for program in ported.programs {
            assert_eq!(program().0, ported.right_result, "{}", ported.name);
        }
    }
}

#[test]
fn a_ported_program_can_be_replayed() {
    for ported in ALL {
        for _ in 0..5 {
            let run = Run::record("ported", &[ported.name]);
            assert_eq!(
                run.outcome.stdout.lines().next(),
                Some(ported.right_result),
                "{}",
                ported.name
            );
            run.replay(10);
        }
    }
}
