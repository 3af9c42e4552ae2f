//! A trace of another program: the replay says what differs, and does not hang.

use expect_test::expect;

use crate::{
    oracle::program,
    support::{
        checks::{self, reports},
        stage::{Outcome, Stage},
    },
};

/// Records with one setting and replays with the other.
#[track_caller]
fn drift(case: &str, recorded: &str, replayed: &str, workers: usize) -> Outcome {
    let stage = Stage::new();
    let program = || program(&stage, &["drift", case], workers);
    checks::drift(&stage, program, recorded, replayed)
}

#[track_caller]
fn differs(case: &str) {
    drift(case, "usual", "other", 1).diverged();
    drift(case, "other", "usual", 2).diverged();
}

reenact_testing::tests! {
    differs {
        "message" => a_message_more_or_less,
        "message-of-main" => a_message_of_main_more_or_less,
        "message-into-room" => a_message_into_room_more_or_less,
        "receiver" => another_channel_to_send_to,
        "who-receives" => another_process_that_receives,
        "sender" => another_process_that_sends,
        "order" => messages_in_another_order,
        "cases" => cases_in_another_order,
        "fewer-cases" => a_case_more_or_less,
        "case-or-default" => a_case_or_a_default,
        "default" => a_selection_more_or_less,
        "select" => a_selection_of_one_or_just_that_one,
        "process" => a_process_more_or_less,
        "process-of-a-process" => a_process_of_a_process_more_or_less,
        "lock" => a_lock_more_or_less_in_a_process,
        "ask" => a_question_more_or_less,
    }
}

#[test]
fn a_sender_that_has_not_gone_yet() {
    drift("closed", "other", "usual", 2).diverged();
}

/// The other worker watches, which is no reason to think that somebody moves.
#[test]
fn a_process_that_waits_elsewhere() {
    reports(
        &drift("elsewhere", "usual", "other", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for someone to send what it receives
              main.a0 is not at an operation
        "#]],
    );
}

#[test]
fn the_report_of_a_message_too_many() {
    reports(
        &drift("message", "usual", "other", 2),
        expect![[r#"
        the replay differs from the recording
          activity:  main.a0
          operation: number 3 of this activity
          trace:     the trace says that this activity had ended here
          program:   send to a channel at failures.rs:_ (channel@failures.rs:_)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_a_message_that_never_comes() {
    reports(
        &drift("message", "other", "usual", 2),
        expect![[r#"
        the replay differs from the recording
          activity:  main.a0
          operation: number 3 of this activity
          trace:     1 more operations that go as predicted, then the end of the activity
          program:   the activity ended
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_cases_in_another_order() {
    reports(
        &drift("cases", "usual", "other", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for someone to send what it receives at failures.rs:_
              main.a0 waits for someone to receive what it sends at failures.rs:_
        "#]],
    );
    reports(
        &drift("cases", "other", "usual", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for someone to send what it receives at failures.rs:_
              main.a0 waits for someone to receive what it sends at failures.rs:_
        "#]],
    );
}

#[test]
fn the_report_of_a_case_that_is_not_there() {
    reports(
        &drift("case-or-default", "usual", "other", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for case 1 of a selection that has 1
              main.a0 waits for someone to receive what it sends at failures.rs:_
        "#]],
    );
    reports(
        &drift("fewer-cases", "usual", "other", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for case 1 of a selection that has 1
              main.a0 waits for someone to receive what it sends at failures.rs:_
        "#]],
    );
}

#[test]
fn the_report_of_a_process_too_many() {
    reports(
        &drift("process", "usual", "other", 2),
        expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 4 of this activity
          trace:     the trace says that this activity had ended here
          program:   an actor or a process is made
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn the_report_of_a_sender_that_has_not_gone_yet() {
    reports(
        &drift("closed", "other", "usual", 2),
        expect![[r#"
            the replay differs from the recording: everybody waits
              main waits for the last sender to go of a channel at failures.rs:_
        "#]],
    );
}
