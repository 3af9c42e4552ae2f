//! A program that is built without the feature `explore` of `reenact`.
//!
//! It is built in a target directory of its own: in the other one, `reenact` has all its features.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::run::{Directory, Run};

fn target() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_reenact")).parent().unwrap();
    profile.with_file_name("without-explore")
}

/// Calls cargo for the example `recorded-only`.
fn cargo(directory: &Directory, arguments: &[&str]) -> Run {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(arguments)
        .args(["--quiet", "--package", "recorded-only", "--target-dir"])
        .arg(target())
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    directory.finish(&mut cargo)
}

#[test]
fn it_is_recorded_and_replayed_but_not_explored() {
    let directory = Directory::new();
    cargo(&directory, &["build"]).assert_status(0);
    let program = target().join("debug/recorded-only");
    let program = program.to_str().unwrap();
    let recorded = directory.reenact(&["record", "-o", "run.reenact", "--", program]);
    recorded.assert_status(0);
    assert_eq!(recorded.stdout.lines().count(), 201, "{}", recorded.stdout);
    let replayed = directory.reenact(&["replay", "run.reenact", "--times", "5", "-v"]);
    replayed.assert_status(0);
    assert_eq!(replayed.stdout, recorded.stdout.repeat(5));
    directory
        .reenact(&["trace", "check", "run.reenact"])
        .assert_status(0);
    for command in [
        ["explore", "--", program].as_slice(),
        &["explore", "run.reenact"],
        &["debug", "--", program],
    ] {
        let refused = directory.reenact(command);
        refused.assert_status(2);
        refused.assert_stderr_has(
            "cannot be explored: it was built without the feature `explore` of the crate reenact",
        );
        assert_eq!(refused.stdout, "", "the program has not begun");
    }
}

#[test]
fn an_explored_test_is_refused() {
    let directory = Directory::new();
    let refused = cargo(
        &directory,
        &["test", "--no-run", "--features", "explored-test"],
    );
    refused.assert_status(101);
    refused.assert_stderr_has(
        "this test is to be explored, but `reenact` is compiled without exploration",
    );
    refused.assert_stderr_has("enable its feature `explore`, which is on by default");
}
