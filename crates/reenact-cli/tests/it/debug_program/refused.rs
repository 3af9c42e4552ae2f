//! Programs that cannot be debugged.

use std::{fs, process::Command};

use expect_test::{Expect, expect};

use super::debug;
use crate::run::Directory;

#[test]
fn a_program_that_does_not_do_the_same_twice_is_reported() {
    let run = debug(&Directory::new(), &["flaky", "count"], "ends\n");
    run.assert_stdout_has("error: the program does not do the same twice: ");
}

#[test]
fn a_program_that_cannot_be_debugged_is_reported() {
    let directory = Directory::new();
    let check = |args: &[&str], status: i32, expected: Expect| {
        let run = directory.reenact(&[&["debug"], args].concat());
        expected.assert_eq(&run.stderr);
        assert_eq!((run.status.code(), &*run.stdout), (Some(status), ""));
    };
    check(
        &["--", "./missing"],
        127,
        expect![[r#"
        reenact: cannot run ./missing: No such file or directory (os error 2)
        help: is the path correct, relative to this directory?
    "#]],
    );
    check(
        &["--", "/bin/sh", "-c", "exit 3"],
        2,
        expect![[r#"
            reenact: /bin/sh did not explore itself: it exited with status 3
            help: does it use reenact with its feature `explore`, which is on by default, on Linux? A program that does not is run once, as ever; a script has to name the program itself
        "#]],
    );
    check(
        &["--", "/bin/sh", "-c", "kill -9 $$"],
        2,
        expect![[r#"
            reenact: /bin/sh did not explore itself: it was killed by signal 9
            help: does it use reenact with its feature `explore`, which is on by default, on Linux? A program that does not is run once, as ever; a script has to name the program itself
        "#]],
    );
    check(
        &[],
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <FILE>

        Usage: reenact debug <FILE> [-- <CMD>...]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn a_program_that_goes_away_is_reported() {
    // One that says nothing but that it is there.
    let script = r#"import os, socket
path = os.environ["REENACT_EXPLORE"].split("=", 1)[1].split("\n")[0]
stream = socket.socket(socket.AF_UNIX)
stream.connect(path)
stream.sendall(b"\x03\0\0\0" b"\0\0\0")
"#;
    let directory = Directory::new();
    fs::write(directory.path("gone.py"), script).unwrap();
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let run = directory.reenact(&["debug", "--", "python3", "gone.py"]);
    run.assert_stderr_has("the process that explores the program is gone");
    run.assert_status(2);
    // One that goes on, and says what nobody understands.
    let greeting = r#"b"\0\0\0")"#;
    assert!(script.contains(greeting));
    let nonsense = script.replace(greeting, r#"b"\0\0\0" b"\x01\0\0\0\xff")"#);
    let nonsense = nonsense + "while stream.recv(4096): pass\n";
    fs::write(directory.path("nonsense.py"), nonsense).unwrap();
    let run = directory.reenact(&["debug", "--", "python3", "nonsense.py"]);
    run.assert_stderr_has("the reply of the program is malformed");
}
