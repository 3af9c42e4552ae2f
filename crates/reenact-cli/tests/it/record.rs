//! `record` around programs that are not built with reenact: what passes through, and what is said.

use std::{
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
};

use expect_test::expect;

use crate::run::Directory;

#[test]
fn a_program_without_reenact_runs_and_a_warning_says_so() {
    let directory = Directory::new();
    let run = directory.reenact(&["record", "--", "sh", "-c", "echo out; echo err >&2"]);
    assert!(run.status.success());
    assert_eq!(run.stdout, "out\n");
    expect![[r#"
        err
        reenact: nothing was recorded: is the program built with reenact (use reenact::{sync, thread, actor}), and did it start a thread, take a lock or make an actor?
    "#]].assert_eq(&run.stderr);
    assert_eq!(directory.files(), [""; 0]);
}

#[test]
fn the_exit_status_passes_through() {
    for status in [0, 3, 86, 101, 255] {
        let script = format!("exit {status}");
        let run = Directory::new().reenact(&["record", "--", "sh", "-c", &script]);
        assert_eq!(run.status.code(), Some(status));
    }
}

#[test]
fn the_signal_that_ends_the_program_ends_reenact() {
    for signal in ["KILL", "TERM", "INT", "ABRT", "SEGV", "PIPE"] {
        let script = format!("kill -{signal} $$");
        let run = Directory::new().reenact(&["record", "--", "sh", "-c", &script]);
        let direct = Command::new("sh").args(["-c", &script]).status().unwrap();
        assert_eq!(run.status.signal(), direct.signal(), "{signal}");
        assert!(!run.status.core_dumped());
    }
}

#[test]
fn a_signal_sent_to_reenact_reaches_the_program() {
    let directory = Directory::new();
    // The program says when it is ready, and its exit status says that it was its own handler that ran.
    // A shell that gets a signal just before it reads runs its handler after the read.
    let script = "trap 'exit 7' TERM; echo ready; while true; do read -t 1 line; done";
    let mut child = directory
        .command(&["record", "--", "bash", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Held open until the end: the program waits for a line that never comes.
    let _input = child.stdin.take();
    let mut ready = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    let kill = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn the_program_gets_signals_as_it_would_without_reenact() {
    // Masks and ignored signals are inherited; ours must not be.
    // Signals 32 and up are the C library's and differ with the way a process is started.
    let script = "grep -E 'SigBlk|SigIgn' /proc/self/status | sed 's/:.*\\(.......\\)$/ \\1/'";
    let run = Directory::new().reenact(&["record", "--", "sh", "-c", script]);
    let direct = Command::new("sh").args(["-c", script]).output().unwrap();
    assert_eq!(run.stdout, String::from_utf8_lossy(&direct.stdout));
}

#[test]
fn the_environment_instructs_the_engine_what_to_do() {
    let directory = Directory::new();
    let script = "echo $REENACT $REENACT_TRACE $REENACT_REPORT";
    let output = directory
        .command(&["record", "--", "sh", "-c", script])
        .env("REENACT", "replay")
        .env("REENACT_REPORT", "/tmp/report")
        .output()
        .unwrap();
    let expected = format!("record {}\n", directory.path("sh.reenact").display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn an_old_recording_is_replaced_with_what_is_recorded_now() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", "exit 0", None);
    fs::write(directory.path("empty.reenact"), "").unwrap();
    let script = "ls -A";
    let run = directory.reenact(&["record", "-o", "bug.reenact", "--", "sh", "-c", script]);
    assert!(run.status.success());
    assert!(!run.stdout.contains("bug.reenact\n"));
    assert_eq!(directory.files(), ["empty.reenact"]);
    let run = directory.reenact(&["record", "-o", "empty.reenact", "--", "true"]);
    assert!(run.status.success());
    assert_eq!(directory.files(), [""; 0]);
}

#[test]
fn the_traces_of_children_are_completed_as_well() {
    let directory = Directory::new();
    // Stands for a program that records, and whose child does too: both leave their files behind.
    let made = Directory::new();
    made.trace_of_shell("a", "exit 0", None);
    let from = made.path("a").display().to_string();
    // One that was there before belongs to someone else.
    directory.trace_of_shell("bug.3.reenact", "exit 0", None);
    let theirs = fs::read(directory.path("bug.3.reenact")).unwrap();
    let script = format!("for n in bug bug.2 bug.4; do cp {from} $n.reenact; done; exit 5");
    let run = directory.reenact(&["record", "-o", "bug.reenact", "--", "sh", "-c", &script]);
    run.assert_status(5);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr);
    assert!(lines[0].starts_with("reenact: recorded bug.reenact ("));
    assert!(lines[0].ends_with(
        ", 2 activities, exited with status 5); replay it with: reenact replay bug.reenact"
    ));
    assert!(lines[1].starts_with("reenact: recorded bug.2.reenact ("));
    assert!(lines[1].ends_with(", 2 activities); replay it with: reenact replay bug.2.reenact"));
    assert!(lines[2].starts_with("reenact: recorded bug.4.reenact ("));
    assert_eq!(fs::read(directory.path("bug.3.reenact")).unwrap(), theirs);
}
