//! A trace of another program, or of the same one on another day: the replay says at the first difference what differs.
//!
//! What differs is done in some *place* (by main, by a thread, where a recording ends, …). Most differences are in
//! operations that went as predicted, of which the trace has but a count and a hash.

use expect_test::expect;

use crate::support::{
    checks::reports,
    stage::{Outcome, Stage},
};

/// Records with one setting and replays with the other.
#[track_caller]
fn drift(case: &str, recorded: &str, replayed: &str) -> Outcome {
    let stage = Stage::new();
    let with = |setting: &str| {
        let program = stage.program(&format!("drift {case}"));
        program.env("DRIFT", setting)
    };
    let program = with(recorded);
    if case.starts_with("killed/") {
        let mut running = program.start_recording();
        running.wait_for_output("ready\n");
        running.kill();
        let same = program.replay();
        same.ended();
    } else {
        let outcome = program.record();
        assert_eq!(outcome.remarks(), 0, "{outcome:#?}");
        program.replay().is_same_as(&outcome);
    }
    stage.recovered();
    with(replayed).replay()
}

/// Whichever of the two was recorded, the replay of the other differs, and says so.
#[track_caller]
fn differs(case: &str) {
    drift(case, "usual", "other").diverged();
    drift(case, "other", "usual").diverged();
}

/// One was recorded, and a replay of the other differs. The other way round, it goes on after the recording is at its
/// end, which may be all that there is to say.
#[track_caller]
fn differs_or_goes_on(case: &str) {
    drift(case, "other", "usual").diverged();
    let longer = drift(case, "usual", "other");
    assert!(longer.report.is_some(), "never silently: {longer:#?}");
}

reenact_testing::tests! {
    differs {
        "middle/count" => a_lock_more_or_less_between_meetings,
        "middle/order" => other_locks_between_meetings,
        "middle/mirror" => mirrored_locks_between_meetings,

        "main/count" => a_lock_more_or_less_at_the_end_of_main,
        "main/order" => other_locks_in_main,
        "main/mirror" => mirrored_locks_in_main,

        "thread/count" => a_lock_more_or_less_in_a_thread,
        "thread/order" => other_locks_in_a_thread,
        "thread/mirror" => mirrored_locks_in_a_thread,

        "running/order" => other_locks_in_a_thread_that_runs_when_main_returns,
        "running/mirror" => mirrored_locks_in_a_thread_that_runs_when_main_returns,
        "killed/order" => other_locks_before_a_kill,
        "killed/mirror" => mirrored_locks_before_a_kill,

        "foreign/count" => a_lock_more_or_less_in_a_foreign_thread,
        "foreign/order" => other_locks_in_a_foreign_thread,
        "foreign/mirror" => mirrored_locks_in_a_foreign_thread,
        "main/guest-name" => a_foreign_thread_of_another_name,

        "local/count" => a_lock_more_or_less_in_a_destructor,
        "local/order" => other_locks_in_a_destructor,
        "foreign-local/count" => a_lock_more_or_less_in_a_destructor_of_a_foreign_thread,
        "main-local/count" => a_lock_more_or_less_in_a_destructor_of_main,
        "foreign-local/order" => other_locks_in_a_destructor_of_a_foreign_thread,
        "main-local/order" => other_locks_in_a_destructor_of_main,

        "thread/kind-of-lock" => reading_for_writing,
        "thread/kind-of-atomic" => loading_for_storing,
        "thread/try" => trying_for_locking,
        "thread/wait" => waiting_for_locking,
        "thread/ask" => asking_twice,
        "main/kind-of-lock" => reading_for_writing_in_main,

        "main/idle-thread" => a_thread_more_or_less_that_does_nothing,
        "main/idle-thread-left-alone" => a_thread_more_or_less_that_nobody_joins,
        "main/busy-thread" => a_thread_more_or_less,
        "main/busy-thread-left-alone" => a_thread_more_or_less_that_nobody_joins_and_that_locks,
        "thread/idle-thread" => a_grandchild_more_or_less,
        "main/spawn-then-lock" => a_birth_before_a_lock_or_after,
        "main/exchange" => threads_in_exchanged_roles,
        "main/which-lock" => another_lock_that_is_as_far,
        "main/which-thread" => another_thread_that_takes_the_lock,

        "main/exit" => an_exit_by_a_thread_or_not,
        "main/exit-before" => an_exit_before_a_thread_is_done_or_after,
    }
    differs_or_goes_on {
        "main/guest-more" => a_foreign_thread_more_or_less,
        "main/abort" => an_abort_or_not,
        "running/count" => a_lock_more_or_less_in_a_thread_that_runs_when_main_returns,
        "killed/count" => a_lock_more_or_less_before_a_kill,
    }
}

/// Records one and replays the other.
#[track_caller]
fn other_program(recorded: &str, replayed: &str, setting: &str) -> Outcome {
    let stage = Stage::new();
    let recording = stage.program(recorded);
    recording.record();
    stage.recovered();
    stage.program(replayed).env("DRIFT", setting).replay()
}

#[test]
fn the_report_names_who_what_and_where() {
    let outcome = other_program("drift middle/count", "drift middle/count", "other");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 7 of this activity
          trace:     take 1
          program:   a thread is started
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
    let report = outcome.diverged();
    let named = ["programs::failures::drift::middle", "failures/drift.rs:"];
    for name in named {
        assert!(
            report.contains(name),
            "the backtrace shows {name}: {report}"
        );
    }
}

#[test]
fn the_report_of_a_lock_less() {
    let outcome = other_program("drift thread/count", "drift thread/count", "other");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main.0
          operation: number 4 of this activity
          trace:     the trace says that this activity had ended here
          program:   lock at drift.rs:_ (mutex)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_an_activity_that_ends_too_early() {
    let stage = Stage::new();
    let program = || stage.program("drift thread/count");
    program().env("DRIFT", "other").record();
    reports(
        &program().replay(),
        expect![[r#"
        the replay differs from the recording
          activity:  main.0
          operation: number 4 of this activity
          trace:     1 more operations that go as predicted, then the end of the activity
          program:   the activity's code ended
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_other_locks() {
    let outcome = other_program("drift thread/order", "drift thread/order", "other");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main.0
          operation: number 4 of this activity
          trace:     the operations since the last check were others, or on other objects
          program:   the activity's code ended
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_another_kind_of_operation() {
    let outcome = other_program("chatter 30", "drift thread/count", "usual");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main.0
          operation: number 1 of this activity
          trace:     declined 0
          program:   lock at drift.rs:_
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn other_arguments() {
    let outcome = other_program("waves 20 10", "waves 30 10", "usual");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 21 of this activity
          trace:     take 20
          program:   a thread is started
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
    let outcome = other_program("chatter 30", "chatter 20", "usual");
    reports(
        &outcome,
        expect![[r#"
        the replay differs from the recording
          activity:  main.0
          operation: number 21 of this activity
          trace:     declined 0
          program:   the activity's code ended
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn another_program() {
    let programs = ["crowd 5", "poison", "chatter 5", "foreign-named", "locals"];
    for recorded in programs {
        for replayed in programs {
            if recorded != replayed {
                let stage = Stage::new();
                stage.program(recorded).record();
                stage.program(replayed).replay().diverged();
            }
        }
    }
}
