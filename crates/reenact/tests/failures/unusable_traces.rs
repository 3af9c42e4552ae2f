//! A trace that cannot be where it should be, or is none.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
};

use reenact_testing::executable;

use crate::support::stage::{Outcome, PROGRAMS, Stage};

/// Somebody who may nothing.
const NOBODY: u32 = 65534;

/// As if it had not been asked to record, but for one line.
#[track_caller]
fn is_unrecorded(outcome: &Outcome, because: &str) {
    assert!(outcome.status.success(), "{outcome:#?}");
    assert_eq!(outcome.stdout, "10 times in vain\n");
    assert_eq!(
        outcome.stderr,
        format!("reenact: {because}: running unrecorded\n")
    );
}

#[test]
fn a_directory_that_cannot_be_written_to() {
    let stage = Stage::new();
    let directory = stage.path("locked");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write anywhere, so the program must not be root; and must still be able to read its own binary.
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.parent().unwrap(), open).unwrap();
    let binary = stage.path("programs");
    executable::copy(&*PROGRAMS, &binary);
    // SAFETY: Asks for a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    let trace = directory.join("bug.reenact");
    let program = stage
        .program("chatter 10")
        .in_binary(binary)
        .with(move |command| {
            if is_root {
                command.uid(NOBODY).gid(NOBODY);
            }
        });
    let outcome = program.start_recording_to(&trace).finish();
    let because = format!(
        "cannot create {}: Permission denied (os error 13)",
        trace.display()
    );
    is_unrecorded(&outcome, &because);
}

/// Nothing is recorded, for this reason, and the program runs as if nothing were to be.
#[track_caller]
fn cannot_record_to(stage: &Stage, trace: &Path, why: &str) {
    let program = stage.program("chatter 10");
    let outcome = program.start_recording_to(trace).finish();
    is_unrecorded(
        &outcome,
        &format!("cannot create {}: {why}", trace.display()),
    );
}

#[test]
fn a_directory_that_is_not_there() {
    let stage = Stage::new();
    let trace = stage.path("nowhere/bug.reenact");
    cannot_record_to(&stage, &trace, "No such file or directory (os error 2)");
}

#[test]
fn a_file_where_a_directory_should_be() {
    let stage = Stage::new();
    fs::write(stage.path("file"), "").unwrap();
    let trace = stage.path("file/bug.reenact");
    cannot_record_to(&stage, &trace, "Not a directory (os error 20)");
}

#[test]
fn a_directory_where_the_trace_should_be() {
    // It exists, so the trace goes beside it, as for any other name that is taken.
    let stage = Stage::new();
    fs::create_dir(stage.trace()).unwrap();
    let outcome = stage.program("chatter 10").record();
    assert_eq!(outcome.is_fine().stdout, "10 times in vain\n");
    assert!(stage.path("bug.2.reenact").is_file());
}

#[test]
fn a_mode_without_a_trace_and_a_trace_without_a_mode() {
    let stage = Stage::new();
    let run = |name: &'static str, value: &'static str| {
        stage.program("chatter 10").env(name, value).run()
    };
    is_unrecorded(
        &run("REENACT", "record"),
        "REENACT is set but REENACT_TRACE does not say which trace",
    );
    is_unrecorded(
        &run("REENACT", "rewind"),
        "REENACT=rewind is not a mode (record, replay, explore, follow, off)",
    );
    run("REENACT", "off").is_fine();
    run("REENACT_TRACE", "/nowhere").is_fine();
}

#[test]
fn a_replay_of_what_is_no_trace_says_so() {
    let stage = Stage::new();
    let replay = |trace: &Path| {
        let outcome = stage.program("chatter 10").start_replay(trace).finish();
        assert_eq!(outcome.stdout, "", "it has not begun");
        outcome.diverged().to_owned()
    };
    let missing = stage.path("missing.reenact");
    assert_eq!(
        replay(&missing),
        format!(
            "cannot replay: cannot open {}: No such file or directory (os error 2)\n",
            missing.display()
        )
    );
    let text = stage.path("text.reenact");
    fs::write(&text, "once upon a time, in a file far away").unwrap();
    assert_eq!(
        replay(&text),
        format!(
            "cannot replay: {} is not a Reenact trace (it does not begin with REENACT)\n",
            text.display()
        )
    );
    let empty = stage.path("empty.reenact");
    fs::write(&empty, "").unwrap();
    replay(&empty);
    replay(stage.path("text.reenact").parent().unwrap());
}
