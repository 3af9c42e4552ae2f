//! Failures of actors: they panic, wait for what never comes, are killed, run out of disk, or are not the recorded ones.

use expect_test::{Expect, expect};

use crate::{
    oracle::{Strategy, record},
    support::{
        checks::{self, often},
        stage::{Outcome, Program, Stage, without_places},
    },
};

fn program<'a>(stage: &'a Stage, command: &str, strategy: Strategy) -> Program<'a> {
    stage
        .program(&format!("actors {command}"))
        .env("REENACT_STRATEGY", strategy.name())
        .env("REENACT_WORKERS", "2")
}

#[track_caller]
fn check(report: &str, expected: Expect) {
    expected.assert_eq(&without_places(report));
}

#[test]
fn actors_that_panic_in_every_turn() {
    for strategy in Strategy::BOTH {
        let recording = record(&["panics", "1000"], strategy, 2);
        for workers in [2, 1, 3] {
            recording.replay(workers);
        }
    }
}

#[test]
fn a_circle_of_promises_is_reported_by_name() {
    for strategy in Strategy::BOTH {
        let recording = record(&["circle"], strategy, 2);
        let named = &recording.outcome.stdout;
        assert_eq!(
            named.matches("a promise of u64 made at").count(),
            3,
            "{named}"
        );
        assert_eq!(named.matches("actors/failures.rs:").count(), 3, "{named}");
        for workers in [2, 1, 3] {
            recording.replay(workers);
        }
    }
}

#[test]
fn a_turn_that_ends_the_process() {
    for strategy in Strategy::BOTH {
        let stage = Stage::new();
        let program = program(&stage, "exit", strategy);
        let recorded = program.record();
        assert_eq!(recorded.status.code(), Some(3), "{recorded:#?}");
        for _ in 0..3 {
            program.replay().is_same_as(&recorded);
        }
    }
}

#[test]
fn threads_that_send_while_the_system_is_shut_down() {
    for strategy in Strategy::BOTH {
        for _ in 0..5 {
            let recording = record(&["shut-down"], strategy, 2);
            for workers in [2, 2, 1, 3] {
                recording.replay(workers);
            }
        }
    }
}

// Somebody waits for what never comes.

#[test]
fn a_promise_that_nobody_resolves_is_where_the_replay_ends() {
    for strategy in Strategy::BOTH {
        let stage = Stage::new();
        let program = program(&stage, "never-resolved", strategy);
        let mut running = program.start_recording();
        running.wait_for_output("stuck\n");
        running.kill();
        stage.recovered();
        let outcome = program.replay();
        let report = outcome.ended();
        let expected = "  main waits for a promise of u64 made at ";
        assert!(
            report.contains(expected) && report.contains("actors/failures.rs:"),
            "{report}"
        );
        assert!(
            report.contains("  main.a0 is at the end of its recording\n"),
            "{report}"
        );
    }
}

#[test]
fn a_promise_that_nobody_resolves_in_the_replay_alone() {
    let stage = Stage::new();
    let program = || program(&stage, "never-resolved-in-replay", Strategy::Receiver);
    program().record().is_fine();
    let outcome = program().env("DRIFT", "other").replay();
    let report = outcome.diverged();
    assert!(report.contains("main.a0"), "{report}");
}

// Programs that differ.

/// Records with one setting and replays with the other.
fn drift(case: &str, recorded: &str, replayed: &str, strategy: Strategy) -> Outcome {
    let stage = Stage::new();
    let program = || program(&stage, &format!("drift {case}"), strategy);
    checks::drift(&stage, program, recorded, replayed)
}

#[track_caller]
fn differs(case: &str) {
    for strategy in Strategy::BOTH {
        drift(case, "usual", "other", strategy).diverged();
        drift(case, "other", "usual", strategy).diverged();
    }
}

reenact_testing::tests! {
    differs {
        "extra" => a_message_more_or_less,
        "extra-by-actor" => a_message_of_an_actor_more_or_less,
        "order" => messages_in_another_order,
        "missing" => a_message_of_another_thread_more_or_less,
        "missing-by-actor" => a_message_of_another_actor_more_or_less,
        "receiver" => another_receiver,
        "spawn" => an_actor_more_or_less,
        "continuation" => a_continuation_more_or_less,
        "pipelined" => a_message_through_a_promise_more_or_less,
        "lock" => a_lock_more_or_less_in_a_turn,
    }
}

#[test]
fn the_report_of_a_message_that_never_comes_names_who_waits_for_whom() {
    let outcome = drift("missing-by-actor", "usual", "other", Strategy::Receiver);
    check(
        outcome.diverged(),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for a promise of alloc::vec::Vec<u64> made at failures.rs:_
              main.a0 waits for a message from main.a1
        "#]],
    );
    let outcome = drift("missing", "usual", "other", Strategy::Receiver);
    check(
        outcome.diverged(),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for a promise of alloc::vec::Vec<u64> made at failures.rs:_
              main.a0 waits for a message from main.0
        "#]],
    );
    let outcome = drift("pipelined", "other", "usual", Strategy::Sender);
    check(
        outcome.diverged(),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for a promise of alloc::vec::Vec<u64> made at failures.rs:_
              main.a0 waits for message 1 that main sent to a promise
        "#]],
    );
}

#[test]
fn the_report_of_a_message_too_many_names_both() {
    let outcome = drift("missing-by-actor", "other", "usual", Strategy::Receiver);
    check(
        outcome.diverged(),
        expect![[r#"
            the replay differs from the recording
              activity:  main.a0
              operation: number 3 of this activity
              trace:     the end of the activity
              program:   handles a message from main.a1
            The program is not the recorded one, or something that it depends on is not recorded.
        "#]],
    );
    let outcome = drift("extra-by-actor", "usual", "other", Strategy::Sender);
    check(
        outcome.diverged(),
        expect![[r#"
            the replay differs from the recording
              activity:  main.a1
              operation: number 3 of this activity
              trace:     the trace says that this activity had ended here
              program:   a message is sent
            The program is not the recorded one, or something that it depends on is not recorded.
        "#]],
    );
}

// Killed.

fn kill_at_some_instant(command: &str, strategy: Strategy, seed: u64) {
    let stage = Stage::new();
    let recording = program(&stage, command, strategy);
    let replaying =
        program(&stage, command, strategy).env("REENACT_WORKERS", (1 + seed % 3).to_string());
    checks::replays_after_a_kill(&stage, seed, recording, replaying);
}

#[test]
fn killed_actors_replay_to_where_they_were() {
    for strategy in Strategy::BOTH {
        often(30, |seed| kill_at_some_instant("steady", strategy, seed));
    }
}

#[test]
fn killed_actors_that_have_children_replay_to_where_they_were() {
    for strategy in Strategy::BOTH {
        often(20, |seed| kill_at_some_instant("families", strategy, seed));
    }
}

#[test]
fn with_no_more_room_actors_go_on_and_replay_to_where_recording_ended() {
    for strategy in Strategy::BOTH {
        let stage = Stage::new();
        let program = || program(&stage, "chatter 500000", strategy);
        checks::goes_on_without_room(&stage, program(), &program(), "1500000 times in vain\n");
    }
}
