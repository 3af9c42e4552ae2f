//! `xtask guard`, around programs that end in every way, or not at all.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{self, Command, Output},
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

/// A directory that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        let name = format!("xtask-guard-{}", process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_hunt_keeps_what_fails_and_how_to_run_it_again() {
    let scratch = Scratch::new();
    for (script, test) in [
        ("echo fine", "module::good"),
        ("echo bad; exit 1", "module::bad"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["guard", "/bin/sh", "-c", script, test])
            .env("REENACT_HUNT", &scratch.0)
            .env("REENACT_TEST_SEED", "77")
            .env("CARGO_PKG_NAME", "some-crate")
            .output()
            .unwrap();
        assert_eq!(output.status.success(), test == "module::good");
    }
    let kept: Vec<_> = fs::read_dir(&scratch.0).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].file_name(), "sh-module-bad-77.txt");
    assert_eq!(
        fs::read_to_string(kept[0].path()).unwrap(),
        "REENACT_TEST_SEED=77 cargo nextest run --package some-crate -E 'test(=module::bad)'\n\nbad\n"
    );
}

#[test]
fn a_list_of_tests_is_that_of_the_program() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["guard", "/bin/echo", "--list"])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "--list\n");
}
