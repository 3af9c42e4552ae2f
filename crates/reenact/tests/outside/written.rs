//! What is written: not in a replay, unless it is asked for, but compared.

use std::fs;

use expect_test::expect;

use crate::{
    oracle::{check, command, program},
    support::stage::{Stage, without_places},
};

#[test]
fn a_replay_writes_nothing() {
    let stage = Stage::new();
    let world = stage.path("world");
    check(&stage, &command(&stage, "write"), || {
        fs::remove_file(&world).unwrap();
    });
    assert!(!world.exists());
}

#[test]
fn a_replay_really_writes_if_asked_to() {
    let stage = Stage::new();
    let world = stage.path("world");
    let program = program(&stage, &command(&stage, "write"));
    let recorded = program.record_completely();
    let written = fs::read(&world).unwrap();
    fs::remove_file(&world).unwrap();
    let program = program.env("REENACT_REALLY_WRITE", "1");
    program.replay().is_same_as(&recorded);
    assert_eq!(fs::read(&world).unwrap(), written);
}

/// Some of it is read in between, which a replay does not do.
#[test]
fn what_is_really_written_goes_where_it_went() {
    let stage = Stage::new();
    let world = stage.path("world");
    let before = "some words in a file";
    fs::write(&world, before).unwrap();
    let program = program(&stage, &command(&stage, "edit"));
    let recorded = program.record_completely();
    let after = fs::read_to_string(&world).unwrap();
    assert_eq!(after, "s-meWORDMOREn !");
    fs::write(&world, before).unwrap();
    program.replay().is_same_as(&recorded);
    assert_eq!(fs::read_to_string(&world).unwrap(), before);
    let program = program.env("REENACT_REALLY_WRITE", "1");
    program.replay().is_same_as(&recorded);
    assert_eq!(fs::read_to_string(&world).unwrap(), after);
}

#[test]
fn what_cannot_be_really_written_makes_no_difference() {
    let stage = Stage::new();
    let world = stage.path("world");
    let program = program(&stage, &command(&stage, "write"));
    let recorded = program.record_completely();
    fs::remove_file(&world).unwrap();
    fs::create_dir(&world).unwrap();
    let program = program.env("REENACT_REALLY_WRITE", "1");
    program.replay().is_same_as(&recorded);
}

#[test]
fn directories_are_made_renamed_and_removed_only_if_asked_to() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::create_dir(&world).unwrap();
    let recorded = check(&stage, &command(&stage, "tree"), || {
        fs::remove_dir_all(&world).unwrap();
        fs::create_dir(&world).unwrap();
    });
    assert_eq!(fs::read_dir(&world).unwrap().count(), 0);
    let really = program(&stage, &command(&stage, "tree")).env("REENACT_REALLY_WRITE", "1");
    really.replay().is_same_as(&recorded);
    assert_eq!(fs::read_to_string(world.join("a/four")).unwrap(), "1");
    assert_eq!(fs::read_to_string(world.join("a/b/two")).unwrap(), "1");
    assert!(world.join("a/b/c").is_dir());
    assert_eq!(fs::read_dir(&world).unwrap().count(), 1);
}

#[test]
fn something_else_that_is_written_is_a_difference() {
    let stage = Stage::new();
    let program = |text: &str| program(&stage, &command(&stage, "write")).env("TEXT", text);
    program("second\n").record_completely();
    let outcome = program("2nd\n").replay();
    let report = without_places(outcome.diverged()).replace(&*stage.path("").to_string_lossy(), "");
    let report = without_hashes(&report);
    expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 3 of this activity
          trace:     an answer to 7 bytes with hash _
          program:   write file world (write file at files.rs:_): 4 bytes with hash _
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]]
    .assert_eq(&report);
    // Of the same length, too.
    let outcome = program("Second\n").replay();
    assert!(outcome.diverged().contains("7 bytes"), "{outcome:#?}");
}

/// The path of a file is in the hash of what is written to it, and different each time.
fn without_hashes(report: &str) -> String {
    let mut parts = report.split("with hash ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        assert_eq!(part.len() - rest.len(), 8, "{report}");
        text + "with hash _" + rest
    })
}

#[test]
fn another_file_that_is_written_is_a_difference() {
    let stage = Stage::new();
    let (one, other) = (stage.path("one"), stage.path("other"));
    let line = format!("write-two {} {}", one.display(), other.display());
    let program = |which: &str| program(&stage, &line).env("WHICH", which);
    let recorded = program("0").record_completely();
    program("0").replay().is_same_as(&recorded);
    let outcome = program("1").replay();
    assert!(outcome.diverged().contains("write file"), "{outcome:#?}");
}
