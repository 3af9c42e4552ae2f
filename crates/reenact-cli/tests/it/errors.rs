//! Each error says what is wrong, where, and what to do next.

use std::fs;

use expect_test::{Expect, expect};

use crate::run::Directory;

fn check(directory: &Directory, args: &[&str], status: i32, expected: Expect) {
    let run = directory.reenact(args);
    expected.assert_eq(&run.stderr);
    assert_eq!(run.status.code(), Some(status));
    assert_eq!(run.stdout, "");
}

fn cannot_record_to(directory: &Directory, file: &str, expected: Expect) {
    check(
        directory,
        &["record", "-o", file, "--", "true"],
        125,
        expected,
    );
}

#[test]
fn a_file_that_is_not_there() {
    let directory = Directory::new();
    check(
        &directory,
        &["replay", "none.reenact"],
        125,
        expect![[r#"
            reenact: cannot open none.reenact: No such file or directory (os error 2)
            help: recordings end in .reenact; make one with: reenact record -- CMD...
        "#]],
    );
    for command in ["show", "stats", "check"] {
        let run = directory.reenact(&["trace", command, "none.reenact"]);
        run.assert_status(2);
        run.assert_stderr_has("cannot open none.reenact");
    }
}

#[test]
fn a_file_that_is_no_trace() {
    let directory = Directory::new();
    fs::write(directory.path("poem"), "Roses are red, violets are blue").unwrap();
    check(
        &directory,
        &["replay", "poem"],
        125,
        expect![[r#"
            reenact: poem is not a Reenact trace (it does not begin with REENACT)
            help: recordings end in .reenact; make one with: reenact record -- CMD...
        "#]],
    );
    check(
        &directory,
        &["trace", "check", "poem"],
        2,
        expect![[r#"
            reenact: poem is not a Reenact trace (it does not begin with REENACT)
            help: recordings end in .reenact; make one with: reenact record -- CMD...
        "#]],
    );
}

#[test]
fn a_trace_of_another_version() {
    let directory = Directory::new();
    let path = directory.trace_of_shell("new.reenact", "exit 0", None);
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 99;
    fs::write(&path, bytes).unwrap();
    check(
        &directory,
        &["replay", "new.reenact"],
        125,
        expect![[r#"
            reenact: new.reenact is a trace of format version 99; this reenact reads versions 1 to 3: use the reenact it was recorded with
            help: reenact --version prints the version of this command
        "#]],
    );
}

#[test]
fn a_place_below_a_file() {
    let directory = Directory::new();
    fs::write(directory.path("file"), "").unwrap();
    cannot_record_to(
        &directory,
        "file/bug.reenact",
        expect![[r#"
            reenact: cannot create a recording in file: it is not a directory
            help: choose another file with -o FILE, in a directory that exists and that you can write to
        "#]],
    );
}

#[test]
fn a_place_in_a_directory_that_is_not_there() {
    cannot_record_to(
        &Directory::new(),
        "no/such/bug.reenact",
        expect![[r#"
            reenact: cannot create a recording in no/such: there is no such directory
            help: choose another file with -o FILE, in a directory that exists and that you can write to
        "#]],
    );
}

#[test]
fn a_place_where_something_else_is() {
    let directory = Directory::new();
    fs::write(directory.path("thesis.txt"), "Ten years of work").unwrap();
    cannot_record_to(
        &directory,
        "thesis.txt",
        expect![[r#"
            reenact: thesis.txt already exists and is not a recording
            help: move it away, or choose another file with -o FILE
        "#]],
    );
    assert_eq!(
        fs::read_to_string(directory.path("thesis.txt")).unwrap(),
        "Ten years of work"
    );
    cannot_record_to(
        &directory,
        ".",
        expect![[r#"
            reenact: . already exists and is not a recording
            help: move it away, or choose another file with -o FILE
        "#]],
    );
}

#[test]
fn a_program_that_is_not_there() {
    let directory = Directory::new();
    check(
        &directory,
        &["record", "--", "no-such-program"],
        127,
        expect![[r#"
            reenact: cannot run no-such-program: No such file or directory (os error 2)
            help: is it installed, and in a directory of PATH?
        "#]],
    );
    fs::write(directory.path("here"), "").unwrap();
    check(
        &directory,
        &["record", "--", "here"],
        127,
        expect![[r#"
            reenact: cannot run here: No such file or directory (os error 2)
            help: to run a program in this directory, write ./here
        "#]],
    );
    check(
        &directory,
        &["record", "--", "./here"],
        126,
        expect![[r#"
            reenact: cannot run ./here: Permission denied (os error 13)
            help: is it an executable program?
        "#]],
    );
}

#[test]
fn a_program_that_cannot_be_run_leaves_the_old_recording() {
    let directory = Directory::new();
    let path = directory.trace_of_shell("bug.reenact", "exit 0", None);
    let before = fs::read(&path).unwrap();
    let run = directory.reenact(&["record", "-o", "bug.reenact", "--", "no-such-program"]);
    run.assert_status(127);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(directory.files(), ["bug.reenact"]);
}

#[test]
fn an_activity_that_is_not_there() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", "exit 0", None);
    check(
        &directory,
        &["trace", "show", "bug.reenact", "--activity", "main.7"],
        2,
        expect![[r#"
            reenact: no activity of bug.reenact is called main.7
            help: its activities are: main, main.0 (worker)
        "#]],
    );
}
