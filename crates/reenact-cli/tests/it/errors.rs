//! Each error says what is wrong, where, and what to do next.

use std::fs;

use expect_test::{Expect, expect};

use crate::run::Place;

fn check(place: &Place, args: &[&str], status: i32, expected: Expect) {
    let run = place.reenact(args);
    expected.assert_eq(&run.stderr);
    assert_eq!(run.status.code(), Some(status));
    assert_eq!(run.stdout, "");
}

#[test]
fn a_file_that_is_not_there() {
    let place = Place::new();
    check(
        &place,
        &["replay", "none.reenact"],
        125,
        expect![[r#"
            reenact: cannot open none.reenact: No such file or directory (os error 2)
            help: recordings end in .reenact; make one with: reenact record -- CMD...
        "#]],
    );
    for command in ["show", "stats", "check"] {
        let run = place.reenact(&["trace", command, "none.reenact"]);
        assert_eq!(run.status.code(), Some(2));
        assert!(run.stderr.contains("cannot open none.reenact"));
    }
}

#[test]
fn a_file_that_is_no_trace() {
    let place = Place::new();
    fs::write(place.path("poem"), "Roses are red, violets are blue").unwrap();
    check(
        &place,
        &["replay", "poem"],
        125,
        expect![[r#"
            reenact: poem is not a Reenact trace (it does not begin with REENACT)
            help: recordings end in .reenact; make one with: reenact record -- CMD...
        "#]],
    );
    check(
        &place,
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
    let place = Place::new();
    let path = place.trace_of_shell("new.reenact", "exit 0", None);
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 99;
    fs::write(&path, bytes).unwrap();
    check(
        &place,
        &["replay", "new.reenact"],
        125,
        expect![[r#"
            reenact: new.reenact is a trace of format version 99; this reenact reads versions 1 to 3: use the reenact it was recorded with
            help: reenact --version says which one this is
        "#]],
    );
}

#[test]
fn a_place_below_a_file() {
    let place = Place::new();
    fs::write(place.path("file"), "").unwrap();
    check(
        &place,
        &["record", "-o", "file/bug.reenact", "--", "true"],
        125,
        expect![[r#"
            reenact: cannot create a recording in file: that is not a directory
            help: say another place with -o FILE, in a directory that exists and that you may write to
        "#]],
    );
}

#[test]
fn a_place_in_a_directory_that_is_not_there() {
    check(
        &Place::new(),
        &["record", "-o", "no/such/bug.reenact", "--", "true"],
        125,
        expect![[r#"
            reenact: cannot create a recording in no/such: there is no such directory
            help: say another place with -o FILE, in a directory that exists and that you may write to
        "#]],
    );
}

#[test]
fn a_place_where_something_else_is() {
    let place = Place::new();
    fs::write(place.path("thesis.txt"), "Ten years of work").unwrap();
    check(
        &place,
        &["record", "-o", "thesis.txt", "--", "true"],
        125,
        expect![[r#"
            reenact: thesis.txt is there already, and it is not a recording
            help: move it away, or say another place with -o FILE
        "#]],
    );
    assert_eq!(
        fs::read_to_string(place.path("thesis.txt")).unwrap(),
        "Ten years of work"
    );
    check(
        &place,
        &["record", "-o", ".", "--", "true"],
        125,
        expect![[r#"
            reenact: . is there already, and it is not a recording
            help: move it away, or say another place with -o FILE
        "#]],
    );
}

#[test]
fn a_program_that_is_not_there() {
    let place = Place::new();
    check(
        &place,
        &["record", "--", "no-such-program"],
        127,
        expect![[r#"
            reenact: cannot run no-such-program: No such file or directory (os error 2)
            help: is it installed, and in a directory of PATH?
        "#]],
    );
    fs::write(place.path("here"), "").unwrap();
    check(
        &place,
        &["record", "--", "here"],
        127,
        expect![[r#"
            reenact: cannot run here: No such file or directory (os error 2)
            help: a program in this directory is run as ./here
        "#]],
    );
    check(
        &place,
        &["record", "--", "./here"],
        126,
        expect![[r#"
            reenact: cannot run ./here: Permission denied (os error 13)
            help: is it a program, and executable?
        "#]],
    );
}

#[test]
fn a_program_that_cannot_be_run_leaves_the_old_recording() {
    let place = Place::new();
    let path = place.trace_of_shell("bug.reenact", "exit 0", None);
    let before = fs::read(&path).unwrap();
    let run = place.reenact(&["record", "-o", "bug.reenact", "--", "no-such-program"]);
    assert_eq!(run.status.code(), Some(127));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(place.files(), ["bug.reenact"]);
}

#[test]
fn an_activity_that_is_not_there() {
    let place = Place::new();
    place.trace_of_shell("bug.reenact", "exit 0", None);
    check(
        &place,
        &["trace", "show", "bug.reenact", "--activity", "main.7"],
        2,
        expect![[r#"
            reenact: no activity of bug.reenact is called main.7
            help: there are: main, main.0 (worker)
        "#]],
    );
}
