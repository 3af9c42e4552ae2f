//! A replay of a program that is not the recorded one reports the first difference.

use expect_test::{Expect, expect};

use crate::run::Program;

/// What the replay of one crowd says of the recording of another.
#[track_caller]
fn report(recorded: &[&str], replayed: &[&str]) -> String {
    let [recorded, replayed] = [recorded, replayed].map(|parties| {
        parties
            .iter()
            .map(|&party| party.to_owned())
            .collect::<Vec<_>>()
    });
    let program = Program::new(&recorded);
    program.record();
    let outcome = program.replay(&replayed);
    assert!(!outcome.status.success(), "{outcome:#?}");
    outcome.report.expect("it says so")
}

#[track_caller]
fn check(recorded: &[&str], replayed: &[&str], expected: Expect) {
    let report = report(recorded, replayed);
    // Without line numbers, and without the backtrace, which has lines of std.
    let lines = report.lines().take_while(|line| !line.starts_with("   "));
    let lines = lines.map(|line| match line.split_once(".rs:") {
        Some((before, _)) => format!("{before}.rs:_\n"),
        None => format!("{line}\n"),
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn a_party_that_arrives_once_more() {
    check(
        &["tbb"],
        &["tbbb"],
        expect![[r#"
        diverged
        the replay differs from the recording
          activity:  main.0
          operation: number 4 of this activity
          trace:     the operations since the last check were others, or on other objects
          program:   leave a phaser at examples/phaser/src/party.rs:_
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn a_party_that_leaves_where_it_arrived() {
    check(
        &["pbbb"],
        &["pbxb"],
        expect![[r#"
        diverged
        the replay differs from the recording
          activity:  main.a0
          operation: number 5 of this activity
          trace:     the operations since the last check were others, or on other objects
          program:   leave a phaser at examples/phaser/src/party.rs:_
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn a_party_that_nobody_waited_for() {
    check(
        &["tb"],
        &["tb", "pb"],
        expect![[r#"
        diverged
        the replay differs from the recording
          activity:  main
          operation: number 5 of this activity
          trace:     the operations since the last check were others, or on other objects
          program:   a thread is started
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]],
    );
}

#[test]
fn a_party_that_does_not_come() {
    let report = report(&["tbbb", "tbbb"], &["tbbb", "tbb"]);
    assert!(report.contains("activity:  main.1\n"), "{report}");
}
