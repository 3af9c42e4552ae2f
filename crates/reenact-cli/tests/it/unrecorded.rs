//! What a recording does not contain, and where that is said.

use expect_test::{Expect, expect};

use crate::{
    program::example,
    run::{Directory, Run},
};

const SOURCE: &str = "crates/reenact-cli/examples/unrecorded.rs";

fn record(program: &str) -> (Directory, Run) {
    let directory = Directory::new();
    let executable = example("unrecorded");
    let run = directory.reenact(&["record", "-o", "run.reenact", "--", executable, program]);
    (directory, run)
}

/// The lines about what is not recorded, with the text of the program's lines in place of their numbers.
fn lines(run: &Run) -> String {
    let lines = run.stderr.lines();
    lines
        .filter_map(|line| line.strip_prefix("reenact: not recorded: "))
        .map(|line| format!("{}\n", with_source(line)))
        .collect()
}

fn with_source(line: &str) -> String {
    let Some((before, after)) = line.split_once(&format!("{SOURCE}:")) else {
        return line.to_owned();
    };
    let end = after.find(|letter: char| !letter.is_ascii_digit());
    let (number, after) = after.split_at(end.unwrap_or(after.len()));
    let source = include_str!("../../examples/unrecorded.rs");
    let text = source.lines().nth(number.parse::<usize>().unwrap() - 1);
    format!("{before}`{}`{after}", text.unwrap().trim())
}

#[track_caller]
fn check(program: &str, expected: Expect) -> Directory {
    let (directory, run) = record(program);
    expected.assert_eq(&lines(&run));
    directory
}

#[test]
fn a_program_of_reenact_has_nothing_that_is_not_recorded() {
    check("nothing", expect![""]);
    for program in ["race", "actors", "timeouts"] {
        let run = Directory::new().reenact(&["record", "--", example("scenarios"), program]);
        assert_eq!(lines(&run), "", "{program}");
    }
}

#[test]
fn threads_that_are_started_without_reenact_are_named_with_whoever_starts_them() {
    check(
        "threads",
        expect![[r#"
        main started a thread without Reenact, at `std::thread::spawn(|| ()).join().unwrap();`: only what they do with Reenact's objects is recorded, and a replay knows them by their names alone; start them with reenact::thread
        main.0 started 3 threads without Reenact, at `builder.spawn(|| ()).unwrap().join().unwrap();` (`pool-*`): only what they do with Reenact's objects is recorded, and a replay knows them by their names alone; start them with reenact::thread
    "#]],
    );
}

#[test]
fn however_many_threads_are_started_at_one_line_they_are_one_finding() {
    let (_, run) = record("many-threads");
    let lines = lines(&run);
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        lines.contains("main.0 started 100 threads without Reenact"),
        "{lines}"
    );
}

#[test]
fn a_random_device_and_processor_time_are_noted() {
    check(
        "device",
        expect![[r#"
        main read random numbers, from /dev/urandom, at `let mut device = File::open("/dev/urandom").unwrap();`: a replay reads others; read them with reenact::fs, or use getrandom, as the crate rand does
    "#]],
    );
    check(
        "processor-time",
        expect![[r#"
        main read its processor time, at `assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);`: a replay reads another; ask through reenact::external, or for the time with std::time
    "#]],
    );
}

#[test]
fn what_was_noted_survives_a_kill() {
    let (directory, run) = record("killed");
    let lines = lines(&run);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    // Also if it is another process that completes the recording.
    let stats = directory.reenact(&["trace", "stats", "run.reenact"]);
    stats.assert_stdout_has("not recorded");
    stats.assert_stdout_has("main.0 started 3 threads without Reenact");
}

#[test]
fn the_statistics_of_a_trace_say_what_it_does_not_contain() {
    let (directory, _) = record("device");
    let text = directory.reenact(&["trace", "stats", "run.reenact"]).stdout;
    let line = text.lines().find(|line| line.starts_with("not recorded"));
    let expected = "main read random numbers, from /dev/urandom";
    assert!(line.is_some_and(|line| line.contains(expected)), "{text}");
    let json = directory
        .reenact(&["trace", "stats", "run.reenact", "--json"])
        .stdout;
    let stats: serde_json::Value = serde_json::from_str(&json).unwrap();
    let finding = &stats["not_recorded"][0];
    assert!(
        finding["what"].as_str().unwrap().starts_with(expected),
        "{json}"
    );
    assert!(finding["consequence"].is_string() && finding["remedy"].is_string());
    // A note is no data of the program.
    assert_eq!(
        (&stats["data"], &stats["data_bytes"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn a_divergence_is_reported_with_what_may_explain_it_and_the_stack_of_the_program() {
    let (directory, _) = record("depends");
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    replayed.assert_status(86);
    replayed.assert_stderr_has("Not recorded: main read random numbers, from /dev/urandom");
    assert_eq!(lines(&replayed), "", "it has been said");
    let stack = stack_of(&replayed);
    assert!(
        stack[0].starts_with("   0: unrecorded::depend_on_a_device"),
        "{stack:#?}"
    );
    assert!(
        stack[1].trim_start().starts_with(&format!("at {SOURCE}:")),
        "{stack:#?}"
    );
    assert!(
        stack.last().unwrap().contains("of the standard library"),
        "{stack:#?}"
    );
    assert!(!replayed.stderr.contains("0x"), "{}", replayed.stderr);
    let json = directory
        .reenact(&["replay", "run.reenact", "--json"])
        .stdout;
    let outcome: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(outcome["not_recorded"][0]["what"].is_string(), "{json}");
}

#[test]
fn a_whole_stack_is_shown_if_that_is_asked_for() {
    let (directory, _) = record("depends");
    let mut command = directory.command(&["replay", "run.reenact"]);
    let replayed = directory.finish(command.env("RUST_BACKTRACE", "full"));
    replayed.assert_status(86);
    let stack = stack_of(&replayed);
    assert!(stack[0].contains(" 0x"), "{stack:#?}");
    assert!(
        stack
            .iter()
            .any(|line| line.contains("reenact_engine::replay::report"))
    );
}

/// The stack in the report of a divergence.
fn stack_of(run: &Run) -> Vec<&str> {
    let lines = run.stderr.lines();
    lines
        .skip_while(|line| !line.starts_with("   0: "))
        .take_while(|line| !line.starts_with("reenact: "))
        .filter(|line| !line.is_empty())
        .collect()
}
