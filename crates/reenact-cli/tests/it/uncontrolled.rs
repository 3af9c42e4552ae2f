//! `reenact explore` of programs that do something outside its control: what it claims, and that it ends.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    program::{example, scenarios},
    run::{Directory, Run},
};

fn explore(options: &[&str], program: &str) -> (Directory, Run) {
    let directory = Directory::new();
    let command = ["--", example("uncontrolled"), program];
    let run = directory.reenact(&[&["explore"], options, &command].concat());
    (directory, run)
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}\n{}", run.stdout, run.stderr))
}

#[test]
fn a_thread_outside_control_keeps_an_exploration_from_being_complete() {
    for cores in ["1", "2"] {
        let (_, run) = explore(&["--cores", cores], "foreign");
        run.assert_status(3);
        let start = "nothing failed, but not everything was explored:\n  main started a thread without Reenact";
        assert!(run.stdout.starts_with(start), "{}", run.stdout);
    }
    let (_, run) = explore(&["--json"], "foreign");
    run.assert_status(3);
    let report = json(&run);
    assert_eq!(report["complete"], false, "{report}");
    assert_eq!(
        report["incomplete"].as_array().unwrap().len(),
        1,
        "{report}"
    );
}

#[test]
fn what_is_left_is_named_and_has_a_status_of_its_own() {
    let directory = Directory::new();
    let explore = |options: &[&str]| {
        let program = ["--json", "--", scenarios(), "turns"];
        directory.reenact(&[&["explore"], options, &program].concat())
    };
    let all = explore(&[]);
    all.assert_status(0);
    assert_eq!(json(&all)["incomplete"].as_array().unwrap().len(), 0);
    for (options, why) in [
        (&["--strategy", "urw"][..], "drawn at random"),
        (
            &["--strategy", "exhaustive", "--executions", "3"],
            "stopped after 3 executions",
        ),
        (&["--strategy", "preemptions 0"], "more than 0 preemptions"),
        (
            &["--strategy", "exhaustive", "--max-steps", "3"],
            "after 3 steps of an execution",
        ),
    ] {
        let run = explore(options);
        run.assert_status(3);
        let report = json(&run);
        assert_eq!(report["complete"], false, "{report}");
        let reason = report["incomplete"][0].as_str().unwrap();
        assert!(reason.contains(why), "{report}");
    }
}

#[test]
fn nothing_explored_is_an_error() {
    let directory = Directory::new();
    let none = directory.reenact(&["explore", "--executions", "0", "--", scenarios(), "turns"]);
    none.assert_status(2);
    for cores in ["1", "2"] {
        let (_, run) = explore(&["--max-time", "0", "--cores", cores], "foreign");
        run.assert_status(2);
        run.assert_stderr_has("nothing was explored: no execution came to its end");
    }
}

/// That the command ends is the main thing.
#[test]
fn a_search_ends_whatever_the_program_does() {
    for (program, who, is_waiting) in [
        ("spin", "main.0", false),
        ("pipe", "main.0", true),
        ("sleep", "main", true),
        ("lock", "main.0", true),
        ("end", "main", true),
    ] {
        let what = match is_waiting {
            true => "waits in the kernel",
            false => "still runs",
        };
        let mut runs = (0..20).map(|_| explore(&["--max-time", "0.2"], program).1);
        let is_found = |run: &Run| {
            run.assert_status(2);
            run.assert_stderr_has(&format!("{who} {what}"));
            run.stderr.contains("examples/uncontrolled.rs:")
        };
        // On a busy machine there may not be enough time to find the line.
        assert!(runs.any(|run| is_found(&run)), "{program}");
    }
    let (_, run) = explore(&["--max-time", "0.2", "--cores", "2"], "spin");
    run.assert_status(2);
    run.assert_stderr_has("main.0 still runs");
}

#[test]
fn a_program_that_does_not_use_reenact_is_ended_too() {
    let directory = Directory::new();
    let run = directory.reenact(&["explore", "--max-time", "0.1", "--", "sleep", "1000"]);
    run.assert_status(2);
    run.assert_stderr_has("had not ended when the time was up");
}

#[test]
fn a_failure_that_depends_on_random_numbers_has_no_failing_schedule() {
    for _ in 0..10 {
        let (directory, run) = explore(&["--seed", "1"], "random");
        run.assert_status(1);
        assert!(!run.stdout.contains("failing schedule"), "{}", run.stdout);
        run.assert_stdout_has("random numbers, from /dev/urandom (different in every execution)");
        assert!(directory.files().is_empty());
    }
}

#[test]
fn a_childs_panic_comes_first() {
    let (_, run) = explore(&[], "join");
    run.assert_status(1);
    let mut lines = run.stdout.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("main.0 panicked at "), "{}", run.stdout);
    assert!(first.ends_with(": the reason"), "{}", run.stdout);
    assert!(lines.next().unwrap().starts_with("main panicked at "));
    assert_eq!(lines.next(), Some("the program exited with status 101"));
}

#[test]
fn a_thread_that_is_left_blocked_is_reported_unless_that_is_allowed() {
    for strategy in ["portfolio", "exhaustive"] {
        let (_, run) = explore(&["--strategy", strategy], "blocked");
        run.assert_status(1);
        let start = "deadlock: main has ended, and others wait forever\n  main.0 waits: receive from channel@";
        assert!(run.stdout.starts_with(start), "{}", run.stdout);
        let allowed = ["--allow-blocked", "--strategy", strategy];
        explore(&allowed, "blocked").1.assert_status(0);
    }
}

/// Runs a command to its end that reads a text from a pipe, which comes in parts.
fn read_from_a_pipe(directory: &Directory, command: &mut Command, text: &str) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || {
        for part in text.as_bytes().chunks(1000) {
            // An error means that the program does not read it to its end.
            if stdin.write_all(part).is_err() {
                break;
            }
        }
    });
    let run = directory.finish_child(child);
    writer.join().unwrap();
    run
}

/// More than a pipe holds.
fn long_text() -> String {
    (0..20_000).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn every_execution_reads_the_same_input() {
    let text = long_text();
    let size = format!(
        "{} lines, {} characters",
        text.lines().count(),
        text.lines().map(str::len).sum::<usize>()
    );
    for cores in ["1", "2"] {
        let directory = Directory::new();
        let args = [
            "explore",
            "--strategy",
            "exhaustive",
            "--cores",
            cores,
            "--",
            example("uncontrolled"),
            "input",
        ];
        for run in [
            directory.reenact_reading(&args, &text),
            read_from_a_pipe(&directory, &mut directory.command(&args), &text),
        ] {
            run.assert_status(0);
            run.assert_stdout_has("complete: every class of executions once, 2 of them");
        }
    }
    // What each of them prints is seen around a recording.
    let directory = Directory::new();
    let program = [example("uncontrolled"), "input"];
    let record = [&["record", "-o", "run.reenact", "--"], &program[..]].concat();
    directory.reenact_reading(&record, &text).assert_status(0);
    let args = ["explore", "run.reenact", "--json"];
    let run = directory.reenact_reading(&args, &text);
    let report = json(&run);
    for outcome in report["outcomes"].as_array().unwrap() {
        assert!(
            outcome["outcome"].as_str().unwrap().contains(&size),
            "{report}"
        );
    }
}

#[test]
fn a_function_reads_the_same_input_in_every_execution() {
    let directory = Directory::new();
    let text = long_text();
    std::fs::write(directory.path("input"), &text).unwrap();
    let command = || {
        let mut command = Command::new(example("uncontrolled"));
        command.arg("input-here");
        command
    };
    let input = std::fs::File::open(directory.path("input")).unwrap();
    for run in [
        directory.finish(command().stdin(input)),
        read_from_a_pipe(&directory, &mut command(), &text),
    ] {
        assert_eq!(
            run.stdout,
            "2 executions, the same: true, complete: true, first [\"line 0\\n\", \"line 1\\n\"]\n",
            "{}",
            run.stderr
        );
    }
}

#[test]
fn input_that_nobody_reads_is_not_waited_for() {
    let directory = Directory::new();
    let mut command = directory.command(&["explore", "--", scenarios(), "turns"]);
    // Held until the command has ended.
    let (_writer, reader) = rustix::pipe::pipe().unwrap();
    let run = directory.finish(command.stdin(reader));
    run.assert_status(0);
}

#[test]
fn several_readers_of_the_input_are_a_gap() {
    let directory = Directory::new();
    let args = ["explore", "--", example("uncontrolled"), "readers"];
    let run = directory.reenact_reading(&args, "some text");
    run.assert_status(3);
    run.assert_stdout_has("several activities read standard input");
}
