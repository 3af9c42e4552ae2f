//! Failures of transactions: killed, cut off, waiting for what never comes, recorded from midway, or not the recorded ones.

use std::time::Duration;

use expect_test::expect;

use crate::support::{
    acknowledged::{acknowledged_numbers, at_least},
    checks::{self, reports},
    stage::{Outcome, Stage},
};

const THREADS: usize = 4;

/// ```text
/// child:  transaction ── acknowledge ── transaction ── acknowledge ── …
/// test:               … at some instant: SIGKILL, recover, replay, compare
/// ```
#[test]
fn a_kill_at_any_instant_loses_no_commit() {
    for seed in 0..40u64 {
        let stage = Stage::new();
        let file = stage.path("acknowledged");
        let running = stage
            .program("stm-steady")
            .env("ACKNOWLEDGED", &file)
            .start_recording();
        checks::kill_after(running, Duration::from_micros(seed * seed * 7919 % 4000));
        let done = acknowledged_numbers::<THREADS>(&file);

        if seed % 2 == 0 {
            stage.recovered();
        }
        let again = stage.path("again");
        let replayed = stage
            .program("stm-steady")
            .env("ACKNOWLEDGED", &again)
            .replay();
        replayed.ended();
        at_least(acknowledged_numbers(&again), done);
    }
}

#[test]
fn a_trace_of_transactions_that_is_cut_anywhere_replays_up_to_there() {
    for command in ["stm-bank", "stm-queue"] {
        let stage = Stage::new();
        checks::replays_where_it_is_cut(&stage, &stage.program(command), 12);
    }
}

#[test]
fn who_retries_for_good_does_so_again() {
    let stage = Stage::new();
    let program = stage.program("stm-stuck");
    let recorded = program.record();
    assert_eq!(recorded.stdout, "done\n");
    for _ in 0..5 {
        program.replay().is_same_as(&recorded);
    }
}

#[test]
fn what_was_committed_before_the_recording_does_not_count() {
    for _ in 0..3 {
        let stage = Stage::new();
        let trace = stage.trace();
        let program = stage.program(&format!("stm-midway {}", trace.display()));
        let recorded = program.run();
        recorded.is_fine();
        stage.recovered();
        for _ in 0..5 {
            program.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn where_there_is_no_more_room_transactions_go_on_unrecorded() {
    let stage = Stage::new();
    let program = || stage.program("stm-crowded-out");
    checks::goes_on_without_room(
        &stage,
        program(),
        &program(),
        "2000000 in vain, 200000 committed, [true, true]\n",
    );
}

/// Records with one setting and replays with the other.
#[track_caller]
fn drift(what: &str, recorded: &str, replayed: &str) -> Outcome {
    let stage = Stage::new();
    let program = || stage.program(&format!("stm-drift {what}"));
    checks::drift(&stage, program, recorded, replayed)
}

#[test]
fn other_transactions_than_the_recorded_ones_are_noticed() {
    for what in ["count", "first-read", "first-write", "read", "write"] {
        drift(what, "usual", "other").diverged();
        drift(what, "other", "usual").diverged();
    }
}

#[test]
fn the_report_of_a_read_in_place_of_a_write() {
    reports(
        &drift("first-read", "usual", "other"),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 2 of this activity
          trace:     a transaction that wrote
          program:   commit without writes at failures.rs:_ (the commit order)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
    reports(
        &drift("first-write", "usual", "other"),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 2 of this activity
          trace:     a transaction that only read
          program:   commit at failures.rs:_ (the commit order)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn who_retries_in_a_replay_is_reported_and_does_not_hang() {
    reports(
        &drift("retry", "usual", "other"),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 2 of this activity
          trace:     a transaction that wrote
          program:   retry at failures.rs:_ (the commit order)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
    reports(
        &drift("silent-retry", "usual", "other"),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 3 of this activity
          trace:     a transaction that did not have to wait
          program:   retry at failures.rs:_ (the commit order)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn a_lock_within_a_transaction_is_reported() {
    let stage = Stage::new();
    let program = stage.program("stm-drift lock-within");
    program.record().is_fine();
    reports(
        &program.replay(),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 2 of this activity
          trace:     another operation, or no transaction of others since the last of this activity; a transaction in which something else is recorded, such as a lock, cannot be replayed
          program:   run a transaction at failures.rs:_
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}
