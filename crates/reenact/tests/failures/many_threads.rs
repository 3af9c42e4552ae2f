//! Very many threads: at once, one after the other, and in waves.

use reenact_testing::generated;

use crate::support::stage::Stage;

/// Records and replays a program with so many threads, each of which may cost so many bytes.
#[track_caller]
fn replays(command_line: &str, threads: usize, bytes_per_thread: u64) {
    let stage = Stage::new();
    let program = stage.program(command_line);
    let recorded = program.record();
    recorded.is_fine();
    let trace = stage.recovered();
    assert_eq!(trace.activities().len(), threads + 1);
    // What the trace takes anyway is little beside so many threads.
    let bytes = trace.size() / threads as u64;
    assert!(
        bytes < bytes_per_thread,
        "{bytes} bytes for each of {threads}"
    );
    program.replay().is_same_as(&recorded);
}

#[test]
fn three_hundred_threads_at_once() {
    replays("crowd 300", 300, 96);
}

/// However little time they get, nobody takes those that want to run for some that wait. `REENACT_CASES` says how often
/// to replay.
#[test]
fn five_hundred_threads_at_a_condition_variable_whose_time_is_cut_into_slices() {
    let stage = Stage::new();
    let program = stage.program("crowd-at-condition 500");
    let recorded = program.record();
    recorded.is_fine();
    stage.recovered();
    let program = program.on_one_core();
    for _ in 0..generated::cases(3) {
        let replay = program.start_replay(&stage.trace());
        replay.finish_in_slices().is_same_as(&recorded);
    }
}

#[test]
fn twenty_thousand_threads_one_after_the_other() {
    replays("queue 20000", 20_000, 32);
}

#[test]
fn twenty_thousand_threads_in_waves() {
    replays("waves 20000 50", 20_000, 32);
}

#[test]
fn very_many_objects_that_are_new() {
    for _ in 0..20 {
        let stage = Stage::new();
        let program = stage.program("first-come 2000");
        let recorded = program.record();
        for _ in 0..5 {
            program.replay().is_same_as(&recorded);
        }
    }
}
