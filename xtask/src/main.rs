//! `cargo xtask test`, `check-unsafe`, `hunt` and `bench`: what people and CI run.
//!
//! It has no dependencies, so that it is built quickly.

mod bench;
mod cargo;
mod check_unsafe;
mod dependency;
mod guard;
mod hunt;
mod process;
mod test;

use std::process::ExitCode;

use self::hunt::Hunt;

const HELP: &str = "\
cargo xtask test            format, lints, dependencies, all tests, the examples of the documentation
                            Goes on after a failure and lists all failures at the end. Generated tests
                            use the same seed every time. A test that takes longer than five minutes
                            fails, with the stacks of its processes; REENACT_TEST_TIMEOUT=SECONDS for
                            another limit.
cargo xtask check-unsafe    the models of loom, the tests under AddressSanitizer, and some under valgrind
                            Needs x86-64 Linux and valgrind. Replays are not run under valgrind: it has
                            no vDSO, which the stall detector reads the time from.
cargo xtask hunt [MINUTES] [SUITE...]
                            generated tests again and again, each time with a new seed, for ten minutes
                            or as many as you say: all, or those that record and replay programs of
                            these suites (mixed, actors, csp, stm, locks, outside)
                            Keeps the output of each test that fails, with its seed and the command that
                            runs it again, in target/hunt/, and fails if there is one.
    --programs N            until each test has tried so many programs, however long that takes
    --release               in release mode
cargo xtask bench SUITE     a benchmark suite (or `all`): see docs/benchmarks.md
                            (`savina-peers`, `csp`, `stm`, `explore-peers` and `all` build other
                            libraries first, `http` and `all` a web service)
    --quick                 fewer rounds, within a minute
    --json                  one JSON object per line
    --only TEXT             only the benches whose name contains this
    --against REV           instead of what the suite compares: build this git revision too, run both
                            interleaved, and print how they compare (for `locks`, `savina`, `csp`,
                            `stm`, `mixed`, `explore` and `instructions`)
cargo xtask bench dependency  what depending on reenact costs: processor time of a build, and size of a
                            test binary, of a small crate that it generates
cargo xtask bench forget    remove all that `--against` has built
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // How cargo starts rustc for `bench dependency`.
    if let Some(exit) = dependency::wrap_rustc(&arguments) {
        return exit;
    }
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let result = match words[..] {
        // How cargo starts a test: see `cargo::guarded`.
        ["guard", ..] if arguments.len() > 1 => return guard::run(&arguments[1..]),
        ["test"] => test::run(),
        ["check-unsafe"] => check_unsafe::run(),
        ["hunt", ref rest @ ..] if let Some(hunt) = Hunt::parse(rest) => hunt::run(&hunt),
        ["bench", "dependency"] => dependency::run(),
        ["bench", ref rest @ ..] if !rest.is_empty() => bench::run_suite(rest),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("xtask: failed: {failed}");
            ExitCode::FAILURE
        }
    }
}
