//! The oracle: a replay prints what the recording printed, ends as it ended and leaves no report. While it runs it makes the
//! same trace again, or says that it does not.

use std::path::PathBuf;

use crate::support::stage::{Outcome, PROGRAMS, Program, Stage};

/// A program of `examples/outside`.
pub(crate) fn program<'a>(stage: &'a Stage, command_line: &str) -> Program<'a> {
    let binary: PathBuf = PROGRAMS.with_file_name("outside");
    stage.program(command_line).in_binary(binary)
}

/// The command line of a program that is given the path of a file.
pub(crate) fn command(stage: &Stage, name: &str) -> String {
    format!("{name} {}", stage.path("world").display())
}

/// Records it and replays it, twice: what it prints is new in each recording.
#[track_caller]
pub(crate) fn check_is_new_each_time(command_line: &str) {
    let first = check_alone(command_line);
    let second = check_alone(command_line);
    assert_ne!(first.stdout, second.stdout);
}

/// Records it and replays it, with a trace of its own.
#[track_caller]
pub(crate) fn check_alone(command_line: &str) -> Outcome {
    check(&Stage::new(), command_line, || {})
}

/// The same several times.
#[track_caller]
pub(crate) fn check_four_times(command_line: &str) {
    for _ in 0..4 {
        check_alone(command_line);
    }
}

/// Records it, changes the world, and replays it in the world that is.
#[track_caller]
pub(crate) fn check(stage: &Stage, command_line: &str, change_the_world: impl FnOnce()) -> Outcome {
    let program = program(stage, command_line);
    let recorded = program.record_completely();
    program.replay().is_same_as(&recorded);
    change_the_world();
    for _ in 0..3 {
        program.replay().is_same_as(&recorded);
    }
    recorded
}
