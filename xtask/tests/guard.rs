//! `xtask guard`, around programs that end in every way, or not at all.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Output},
};

/// Runs a script of the shell guarded, with a limit in seconds.
fn guard(limit: &str, script: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["guard", "/bin/sh", "-c", script, "sh"])
        .env("REENACT_TEST_TIMEOUT", limit)
        .env_remove("REENACT_HUNT")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a process is there that has not ended.
fn is_there(process: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z"))
}

#[test]
fn output_and_status_pass_through() {
    let output = guard("60", "echo out; echo err >&2; exit 7");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "out\n");
    assert_eq!(text(&output.stderr), "err\n");
}

#[test]
fn a_signal_passes_through() {
    let output = guard("60", "kill -9 $$");
    assert_eq!(output.status.signal(), Some(9));
}

#[test]
fn a_program_that_is_not_there_is_a_failure() {
    let status = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["guard", "/no/such/program"])
        .output()
        .unwrap()
        .status;
    assert_eq!(status.code(), Some(1));
}

/// ```text
/// test ── child ── sleeps
///   └──── sleeps
/// ```
#[test]
fn a_program_that_hangs_fails_and_its_processes_are_shown_and_ended() {
    let output = guard("0.5", "sh -c 'echo $$; exec sleep 4001' & sleep 4002; echo");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(124), "{said}");
    for sign in ["not done after 0.5 seconds", ": sleep 4001", ": sleep 4002"] {
        assert!(said.contains(sign), "{sign}: {said}");
    }
    assert!(said.contains("system call "), "{said}");
    let child = text(&output.stdout);
    assert!(!is_there(child.trim()), "{child} outlives the test");
}

#[test]
fn what_a_test_leaves_behind_is_ended() {
    let output = guard("60", "sleep 4003 >/dev/null 2>&1 & echo $!; exit 0");
    assert!(output.status.success());
    let orphan = text(&output.stdout);
    assert!(!is_there(orphan.trim()), "{orphan} outlives the test");
}

#[test]
fn a_list_of_tests_is_that_of_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["guard", "/bin/echo", "--list"])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "--list\n");
}
