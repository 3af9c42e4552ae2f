//! Other programs that were started, and are not there any more.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use crate::{
    oracle::{check, program, record},
    stage::Stage,
};

fn script(stage: &Stage) -> PathBuf {
    let path = stage.path("script");
    fs::write(&path, "#!/bin/sh\necho \"$@ $WORD\"\ncat\nexit 3\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_program_that_is_gone_printed_what_it_printed() {
    let stage = Stage::new();
    let script = script(&stage);
    let recorded = check(&stage, &format!("commands {}", script.display()), || {
        fs::remove_file(&script).unwrap();
    });
    assert!(recorded.stdout.contains("one two three"), "{recorded:#?}");
    assert!(recorded.stdout.contains("from the other side"));
}

#[test]
fn another_argument_is_another_command() {
    let stage = Stage::new();
    let line = format!("command {}", script(&stage).display());
    let with = |text: &str| program(&stage, &line).env("TEXT", text);
    record(&stage, &with("usual"));
    let outcome = with("other").replay();
    assert!(outcome.diverged().contains("run "), "{outcome:#?}");
}
