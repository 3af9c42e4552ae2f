//! What comes from outside, and what goes there.

use std::{fs, os::unix::fs::PermissionsExt};

use expect_test::expect;

use crate::{
    program::{record, scenarios},
    run::Directory,
};

/// A directory in which a program has read one file and written another.
fn recorded() -> Directory {
    let directory = Directory::new();
    fs::write(directory.path("orders"), "two gadgets").unwrap();
    let run = record(&directory, "outside");
    run.assert_status(0);
    assert_eq!(
        fs::read_to_string(directory.path("report")).unwrap(),
        "TWO GADGETS"
    );
    directory
}

#[test]
fn a_replay_needs_no_file_and_makes_none() {
    let directory = recorded();
    fs::remove_file(directory.path("orders")).unwrap();
    fs::remove_file(directory.path("report")).unwrap();
    let first = directory.reenact(&["replay", "run.reenact"]);
    first.assert_status(0);
    assert!(first.stdout.ends_with("two gadgets\n"), "{}", first.stdout);
    let second = directory.reenact(&["replay", "run.reenact"]);
    assert_eq!(first.stdout, second.stdout, "at the same time, too");
    assert_eq!(directory.files(), ["run.reenact"]);
}

#[test]
fn a_replay_writes_if_asked_to() {
    let directory = recorded();
    fs::remove_file(directory.path("orders")).unwrap();
    fs::remove_file(directory.path("report")).unwrap();
    let run = directory.reenact(&["replay", "--really-write", "run.reenact"]);
    run.assert_status(0);
    assert_eq!(
        fs::read_to_string(directory.path("report")).unwrap(),
        "TWO GADGETS"
    );
}

#[test]
fn what_came_from_outside_is_shown_in_words() {
    let directory = recorded();
    let shown = directory.reenact(&["trace", "show", "run.reenact"]).stdout;
    for words in ["reads the clock, ", "gets 11 bytes from outside, about "] {
        assert!(shown.contains(words), "{shown}");
    }
    let stats = directory.reenact(&["trace", "stats", "run.reenact"]).stdout;
    assert!(stats.contains("from outside  "), "{stats}");
}

#[test]
fn a_secret_is_in_no_recording_and_a_replay_says_that_it_is_missing() {
    let directory = Directory::new();
    let run = directory
        .command(&["record", "-o", "run.reenact", "--redact", "env:TOKEN", "--"])
        .args([scenarios(), "secret"])
        .env("TOKEN", "hunter2-hunter2")
        .output()
        .unwrap();
    assert!(run.status.success());
    let path = directory.path("run.reenact");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let trace = fs::read(path).unwrap();
    assert!(!trace.windows(7).any(|bytes| bytes == b"hunter2"));
    let stats = directory.reenact(&["trace", "stats", "run.reenact"]).stdout;
    assert!(stats.contains("withheld      env:TOKEN"), "{stats}");
    let replayed = directory.reenact(&["replay", "run.reenact"]);
    replayed.assert_status(86);
    for words in ["was kept out of the trace", "env:TOKEN"] {
        replayed.assert_stderr_has(words);
    }
}

#[test]
fn a_replay_that_prints_something_else_is_not_the_same() {
    let directory = Directory::new();
    fs::write(directory.path("words"), "two gadgets").unwrap();
    record(&directory, "print-words").assert_status(0);
    directory
        .reenact(&["replay", "run.reenact"])
        .assert_status(0);
    let shown = directory.reenact(&["trace", "show", "run.reenact"]);
    shown.assert_stdout_has(r#"prints "two gadgets\n" to standard output"#);

    fs::write(directory.path("words"), "three gadgets").unwrap();
    for options in [&[][..], &["--times", "2"], &["--json"]] {
        let run = directory.reenact(&[&["replay", "run.reenact"], options].concat());
        run.assert_status(86);
        for words in [
            "stream:    standard output, line 2, byte 13",
            r#"recorded:  "two gadgets\n""#,
            r#"replayed:  "three gadgets\n""#,
        ] {
            run.assert_stderr_has(words);
        }
    }
}

#[test]
fn what_cannot_be_kept_out_is_refused() {
    let run = Directory::new().reenact(&["record", "--redact", "password", "--", "true"]);
    run.assert_status(2);
    expect![[r#"
        error: invalid value 'password' for '--redact <NAME,...>': expected KIND:NAME, where KIND is one of header, body, env, file, socket, process, external, source, output

        For more information, try '--help'.
    "#]]
    .assert_eq(&run.stderr);
}
