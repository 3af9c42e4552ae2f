//! What is recorded of the environment, and what a replay takes from a recording.

use std::fs;

use reenact_trace::{Exit, Program, VariableValue};

use crate::{
    program::scenarios,
    run::{Directory, Run},
};

/// Records a program that asks for these variables.
fn record(directory: &Directory, options: &[&str], names: &[&str]) -> Run {
    let record = ["record", "-o", "run.reenact"];
    let program = ["--", scenarios(), "environment"];
    let run = directory.finish(
        directory
            .command(&[&record, options, &program, names].concat())
            .env("MOOD", "good mood")
            .env("TOKEN", "hunter2-hunter2")
            .env("DATABASE_URL", "postgres://me:hunter2-hunter2@db/orders")
            .env("LANG", "C.UTF-8")
            .env("UNREAD", "nobody asked")
            .env("RUST_X", "recorded")
            .env_remove("MISSING"),
    );
    run.assert_status(0);
    run
}

fn has(directory: &Directory, text: &str) -> bool {
    let trace = fs::read(directory.path("run.reenact")).unwrap();
    trace
        .windows(text.len())
        .any(|bytes| bytes == text.as_bytes())
}

#[test]
fn what_the_program_reads_is_recorded_and_secrets_are_not() {
    let directory = Directory::new();
    let names = ["MOOD", "TOKEN", "DATABASE_URL", "LANG", "MISSING", "MOOD"];
    let recorded = record(&directory, &[], &names);
    assert!(recorded.stdout.contains("TOKEN is hunter2-hunter2\n"));
    assert!(has(&directory, "good mood") && has(&directory, "C.UTF-8"));
    assert!(!has(&directory, "hunter2") && !has(&directory, "nobody asked"));

    let trace = reenact_trace::Trace::open(&directory.path("run.reenact")).unwrap();
    let variables = trace.variables();
    let value = |name: &str| {
        let mut all = variables.iter().filter(|variable| variable.name == name);
        let found = all.next().map(|variable| variable.value.clone());
        assert!(all.next().is_none(), "{name} is there once");
        found
    };
    assert_eq!(
        value("MOOD"),
        Some(VariableValue::Value("good mood".into()))
    );
    assert_eq!(value("TOKEN"), Some(VariableValue::Withheld));
    assert_eq!(value("DATABASE_URL"), Some(VariableValue::Withheld));
    assert_eq!(value("MISSING"), Some(VariableValue::Unset));
    assert_eq!((value("LANG"), value("UNREAD")), (None, None));
}

#[test]
fn a_replay_sees_what_the_program_saw() {
    let directory = Directory::new();
    let names = ["MOOD", "TOKEN", "MISSING", "LANG", "RUST_X"];
    let recorded = record(&directory, &[], &names);
    let mut replay = directory.command(&["replay", "run.reenact"]);
    replay.env("MOOD", "bad").env("MISSING", "not any more");
    replay.env("LANG", "nl_BE").env("RUST_X", "recorded");
    let same = directory.finish(replay.env("TOKEN", "hunter2-hunter2"));
    assert_eq!(same.stdout, recorded.stdout);
    assert_eq!(
        same.stderr,
        "reenact: replay 1 of 1: same end: exited with status 0\n"
    );

    // A secret is the replay's own, or missing; what may affect how programs run is its own too.
    let other = directory.finish(replay.env_remove("TOKEN").env("RUST_X", "another"));
    assert!(
        other.stdout.contains("TOKEN is not set\n"),
        "{}",
        other.stdout
    );
    assert!(
        other.stdout.contains("RUST_X is another\n"),
        "{}",
        other.stdout
    );
    other.assert_stderr_has(
        "the program read TOKEN, which is not in the recording because it may be a secret",
    );
    other.assert_stderr_has(
        "the program read RUST_X=recorded, which a replay does not take from a recording",
    );
}

#[test]
fn a_user_can_have_more_recorded_and_less() {
    let directory = Directory::new();
    record(&directory, &["--env", "UNREAD,TOKEN"], &["TOKEN"]);
    assert!(has(&directory, "nobody asked") && has(&directory, "TOKEN"));
    assert!(has(&directory, "hunter2-hunter2"), "its name was given");
    record(&directory, &["--env", "*"], &["TOKEN"]);
    assert!(has(&directory, "nobody asked") && !has(&directory, "hunter2"));
    record(
        &directory,
        &["--env", "TOKEN", "--redact", "env:TOKEN"],
        &["TOKEN"],
    );
    assert!(!has(&directory, "hunter2"));
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    replayed.assert_status(86);
    replayed.assert_stderr_has("was kept out of the trace");
}

#[test]
fn a_recording_does_not_say_what_is_loaded_or_run() {
    let directory = Directory::new();
    let script = ": >$REENACT_REPORT.claim; echo ${LD_AUDIT_X-no} $RUST_LOG $PATH $GREETING";
    let path = directory.trace_of_shell("bug.reenact", script, Some(Exit::Status(0)));
    let trace = reenact_trace::Trace::open(&path).unwrap();
    let variable = |name: &str, value: &str| (name.into(), value.into());
    let program = Program {
        environment: vec![
            variable("LD_AUDIT_X", "stranger"),
            variable("PATH", "/tmp/stranger"),
            variable("RUST_LOG", "stranger"),
            variable("GREETING", "hello"),
        ],
        ..trace.program().clone()
    };
    directory.trace_of("bug.reenact", &program, Some(Exit::Status(0)));
    let mut replay = directory.command(&["replay", "bug.reenact"]);
    let run = directory.finish(replay.env("PATH", "/usr/bin:/bin").env("RUST_LOG", "mine"));
    assert_eq!(run.stdout, "no mine /usr/bin:/bin hello\n");
}
