//! Other programs that were started, and are not there any more.

use std::{fs, path::PathBuf};

use reenact_testing::executable;

use crate::{
    oracle::{check, program},
    support::stage::Stage,
};

fn script(stage: &Stage) -> PathBuf {
    let path = stage.path("script");
    executable::write(&path, "#!/bin/sh\necho \"$@ $WORD\"\ncat\nexit 3\n");
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
    with("usual").record_completely();
    let outcome = with("other").replay();
    assert!(outcome.diverged().contains("run "), "{outcome:#?}");
}

#[test]
fn what_a_program_printed_can_be_withheld() {
    let stage = Stage::new();
    let script = script(&stage);
    let name = format!("process:{}", script.display());
    let with = |line: &str| {
        program(&stage, &format!("{line} {}", script.display())).env("REENACT_REDACT", &name)
    };
    let recorded = with("commands").record();
    recorded.is_fine();
    stage.recovered();
    let trace = fs::read(stage.trace()).unwrap();
    assert!(!trace.windows(13).any(|bytes| bytes == b"one two three"));
    let outcome = with("commands").replay();
    assert!(outcome.diverged().contains("kept out of the trace"));
}

#[test]
fn how_a_program_ended_is_no_secret() {
    let stage = Stage::new();
    let script = script(&stage);
    let program = program(&stage, &format!("command {}", script.display()))
        .env("REENACT_REDACT", format!("process:{}", script.display()));
    let recorded = program.record_completely();
    assert!(recorded.stdout.contains("768"), "{recorded:#?}");
    program.replay().is_same_as(&recorded);
}
