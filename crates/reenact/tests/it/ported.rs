//! A program that was written for std compiles after a change of its imports, computes the same, and can be replayed.

use crate::run::Run;

#[path = "../../examples/programs/ported/of_reenact/quicksort.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod reenact_quicksort;
#[path = "../../examples/programs/ported/of_reenact/sieve.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod reenact_sieve;
#[path = "../../examples/programs/ported/of_reenact/thread_pool.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod reenact_thread_pool;
#[path = "../../examples/programs/ported/of_reenact/word_count.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod reenact_word_count;
#[path = "../../examples/programs/ported/of_std/quicksort.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod std_quicksort;
#[path = "../../examples/programs/ported/of_std/sieve.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod std_sieve;
#[path = "../../examples/programs/ported/of_std/thread_pool.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod std_thread_pool;
#[path = "../../examples/programs/ported/of_std/word_count.rs"]
#[allow(unreachable_pub, reason = "written for std, not for us")]
mod std_word_count;

struct Ported {
    name: &'static str,
    /// Its file for std and for reenact.
    files: [&'static str; 2],
    /// The same compiled. Each returns its result, and how it came to it, which differs from run to run.
    programs: [fn() -> (String, String); 2],
    right_result: &'static str,
}

macro_rules! ported {
    ($of_std:ident, $of_reenact:ident, $name:literal, $right_result:literal) => {
        Ported {
            name: $name,
            files: [
                include_str!(concat!(
                    "../../examples/programs/ported/of_std/",
                    $name,
                    ".rs"
                )),
                include_str!(concat!(
                    "../../examples/programs/ported/of_reenact/",
                    $name,
                    ".rs"
                )),
            ],
            programs: [$of_std::run, $of_reenact::run],
            right_result: $right_result,
        }
    };
}

const ALL: [Ported; 4] = [
    ported!(
        std_word_count,
        reenact_word_count,
        "word_count",
        r#"[("the", 175), ("a", 100), ("dog", 100), ("fox", 100)]"#
    ),
    ported!(
        std_thread_pool,
        reenact_thread_pool,
        "thread_pool",
        "328350 100 ThreadPool { workers: 3 }"
    ),
    ported!(
        std_sieve,
        reenact_sieve,
        "sieve",
        "[2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]"
    ),
    ported!(
        std_quicksort,
        reenact_quicksort,
        "quicksort",
        "true 4500416"
    ),
];

/// The imports, and the lines of the rest that are not empty.
fn taken_apart(file: &str) -> (Vec<&str>, Vec<&str>) {
    let mut in_import = false;
    file.lines()
        .filter(|line| !line.trim().is_empty())
        .partition(|line| {
            let import = in_import || line.starts_with("use ");
            in_import = import && !line.ends_with(';');
            import
        })
}

#[test]
fn a_port_is_a_change_of_imports() {
    for ported in ALL {
        let [(of_std, std_rest), (of_reenact, reenact_rest)] = ported.files.map(taken_apart);
        assert_eq!(std_rest, reenact_rest, "{}", ported.name);
        assert_ne!(of_std, of_reenact, "{}", ported.name);
        let imports = of_reenact.concat();
        assert!(
            !imports.contains("std::sync") && !imports.contains("std::thread"),
            "{imports}"
        );
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
