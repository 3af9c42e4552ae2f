//! What comes from outside, and what goes there.

use std::{fs, os::unix::fs::PermissionsExt};

use expect_test::expect;

use crate::{
    program::{record, scenarios},
    run::Place,
};

/// A place in which a program has read one file and written another.
fn recorded() -> Place {
    let place = Place::new();
    fs::write(place.path("orders"), "two gadgets").unwrap();
    let run = record(&place, "outside");
    assert!(run.status.success(), "{}", run.stderr);
    assert_eq!(
        fs::read_to_string(place.path("report")).unwrap(),
        "TWO GADGETS"
    );
    place
}

#[test]
fn a_replay_needs_no_file_and_makes_none() {
    let place = recorded();
    fs::remove_file(place.path("orders")).unwrap();
    fs::remove_file(place.path("report")).unwrap();
    let first = place.reenact(&["replay", "run.reenact"]);
    assert!(first.status.success(), "{}", first.stderr);
    assert!(first.stdout.ends_with("two gadgets\n"), "{}", first.stdout);
    let second = place.reenact(&["replay", "run.reenact"]);
    assert_eq!(first.stdout, second.stdout, "at the same time, too");
    assert_eq!(place.files(), ["run.reenact"]);
}

#[test]
fn a_replay_writes_if_asked_to() {
    let place = recorded();
    fs::remove_file(place.path("orders")).unwrap();
    fs::remove_file(place.path("report")).unwrap();
    let run = place.reenact(&["replay", "--really-write", "run.reenact"]);
    assert!(run.status.success(), "{}", run.stderr);
    assert_eq!(
        fs::read_to_string(place.path("report")).unwrap(),
        "TWO GADGETS"
    );
}

#[test]
fn what_came_from_outside_is_shown_in_words() {
    let place = recorded();
    let shown = place.reenact(&["trace", "show", "run.reenact"]).stdout;
    for words in ["reads the clock, ", "gets 11 bytes from outside, about "] {
        assert!(shown.contains(words), "{shown}");
    }
    let stats = place.reenact(&["trace", "stats", "run.reenact"]).stdout;
    assert!(stats.contains("from outside  "), "{stats}");
}

#[test]
fn a_secret_is_in_no_recording_and_a_replay_says_that_it_is_missing() {
    let place = Place::new();
    let run = place
        .command(&["record", "-o", "run.reenact", "--redact", "env:TOKEN", "--"])
        .args([scenarios(), "secret"])
        .env("TOKEN", "hunter2-hunter2")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "15 letters\n");
    assert!(String::from_utf8_lossy(&run.stderr).contains("nothing was recorded"));

    // Only that the program meets somebody makes it one that is recorded.
    let run = place
        .command(&["record", "-o", "run.reenact", "--redact", "env:TOKEN", "--"])
        .args([scenarios(), "secret", "clock"])
        .env("TOKEN", "hunter2-hunter2")
        .output()
        .unwrap();
    assert!(run.status.success());
    let path = place.path("run.reenact");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let trace = fs::read(path).unwrap();
    assert!(!trace.windows(7).any(|bytes| bytes == b"hunter2"));
    let stats = place.reenact(&["trace", "stats", "run.reenact"]).stdout;
    assert!(stats.contains("withheld      env:TOKEN"), "{stats}");
    let replayed = place.reenact(&["replay", "run.reenact"]);
    assert_eq!(replayed.status.code(), Some(86));
    for words in ["was kept out of the trace", "env:TOKEN"] {
        assert!(replayed.stderr.contains(words), "{}", replayed.stderr);
    }
}

#[test]
fn what_cannot_be_kept_out_is_refused() {
    let run = Place::new().reenact(&["record", "--redact", "password", "--", "true"]);
    assert_eq!(run.status.code(), Some(2));
    expect![[r#"
        error: invalid value 'password' for '--redact <NAME,...>': expected KIND:NAME, where KIND is one of header, body, env, file, socket, process, external, source

        For more information, try '--help'.
    "#]]
    .assert_eq(&run.stderr);
}
