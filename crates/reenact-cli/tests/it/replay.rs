//! `replay` around a program that behaves as the engine would: what is checked before, and what is said after.

use std::{fs, os::unix::process::ExitStatusExt};

use expect_test::expect;
use reenact_testing::executable;
use reenact_trace::Exit;

use crate::run::{Directory, Run, program};

/// A shell script that says that it has begun, as the engine does, and then runs this one.
fn begun(script: &str) -> String {
    format!("[ -z $REENACT_REPORT ] || : >$REENACT_REPORT.claim; {script}")
}

/// Replays the recording of a shell script that ended so.
fn replay(script: &str, exit: Option<Exit>, options: &[&str]) -> (Directory, Run) {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", &begun(script), exit);
    let run = directory.reenact(&[&["replay", "bug.reenact"], options].concat());
    (directory, run)
}

#[test]
fn the_same_end_passes_through() {
    let (_, run) = replay("echo out; exit 101", Some(Exit::Status(101)), &[]);
    run.assert_status(101);
    assert_eq!(run.stdout, "out\n");
    expect![[r#"
        reenact: replay 1 of 1: same end: exited with status 101
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn the_same_signal_passes_through() {
    let (_, run) = replay("kill -ABRT $$", Some(Exit::Signal(6)), &[]);
    assert_eq!(run.status.signal(), Some(6));
    expect![[r#"
        reenact: replay 1 of 1: same end: was ended by signal 6 (SIGABRT)
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn another_end_is_said() {
    let (_, run) = replay("exit 0", Some(Exit::Status(101)), &[]);
    run.assert_status(86);
    expect![[r#"
        reenact: replay 1 of 1: differs: exited with status 0, but the recorded program exited with status 101
    "#]].assert_eq(&run.stderr);
}

#[test]
fn an_end_that_nobody_saw_cannot_be_compared() {
    let (_, run) = replay("exit 4", None, &[]);
    run.assert_status(4);
    expect![[r#"
        reenact: replay 1 of 1: exited with status 4 (the recording does not say how the program ended)
    "#]].assert_eq(&run.stderr);
}

#[test]
fn a_program_that_does_not_start_the_engine_is_not_replayed() {
    for status in [0, 3] {
        let directory = Directory::new();
        directory.trace_of_shell("bug.reenact", "exit 0", Some(Exit::Status(status)));
        let options = ["replay", "bug.reenact", "--force", "--", "/bin/true"];
        let run = directory.reenact(&options);
        run.assert_status(125);
        expect![[r#"
            reenact: /bin/true is not the program that was recorded; replaying it anyway
            reenact: /bin/true was not replayed: it exited with status 0 without starting Reenact
            help: is the program built with reenact, and not a script that starts it without its environment?
        "#]]
        .assert_eq(&run.stderr);
    }
}

const DIVERGES: &str = r#"
report='main.0 wanted lock main/3, the recording says main/2'
echo "$report" >&2
printf 'diverged\n%s\n' "$report" > "$REENACT_REPORT"
exit 86"#;

#[test]
fn a_divergence_is_reported_once() {
    let (_, run) = replay(DIVERGES, Some(Exit::Status(101)), &["--times", "2"]);
    run.assert_status(86);
    expect![[r#"
        main.0 wanted lock main/3, the recording says main/2
        reenact: replay 1 of 2: diverged: the program did something else than the recording says
        reenact: replay 2 of 2: diverged: the program did something else than the recording says
        reenact: 0 of 2 replays ended as recorded
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_recording_of_a_killed_program_is_replayed_to_its_end() {
    let script = r#"echo ended > "$REENACT_REPORT""#;
    let (_, run) = replay(script, Some(Exit::Signal(9)), &[]);
    run.assert_status(0);
    expect![[r#"
        reenact: replay 1 of 1: reached the end of the recording: the program was ended by signal 9 (SIGKILL)
    "#]].assert_eq(&run.stderr);
}

#[test]
fn many_replays_show_the_output_once() {
    let (directory, run) = replay(
        "echo out; exit 101",
        Some(Exit::Status(101)),
        &["--times", "3"],
    );
    run.assert_status(0);
    assert_eq!(run.stdout, "out\n");
    expect![[r#"
        reenact: replay 1 of 3: same end: exited with status 101
        reenact: replay 2 of 3: same end: exited with status 101
        reenact: replay 3 of 3: same end: exited with status 101
        reenact: 3 of 3 replays ended as recorded
    "#]]
    .assert_eq(&run.stderr);
    let run = directory.reenact(&["replay", "bug.reenact", "--times", "3", "-v"]);
    assert_eq!(run.stdout, "out\nout\nout\n");
}

#[test]
fn json_is_all_that_is_on_standard_output() {
    let (directory, run) = replay(
        "echo out; exit 101",
        Some(Exit::Status(101)),
        &["--times", "2", "--json"],
    );
    expect![[r#"
        {"replay":1,"of":2,"outcome":"same","exit":{"status":101}}
        {"replay":2,"of":2,"outcome":"same","exit":{"status":101}}
    "#]]
    .assert_eq(&run.stdout);
    assert_eq!(run.stderr, "out\n");
    directory.trace_of_shell("bug.reenact", &begun(DIVERGES), Some(Exit::Signal(9)));
    let run = directory.reenact(&["replay", "bug.reenact", "--json"]);
    expect![[r#"
        {"replay":1,"of":1,"outcome":"diverged","report":"main.0 wanted lock main/3, the recording says main/2"}
    "#]].assert_eq(&run.stdout);
    run.assert_status(86);
}

#[test]
fn the_program_runs_as_it_did() {
    let directory = Directory::new();
    let script = "pwd; echo $0 $GREETING $REENACT $LEAK; echo $REENACT_TRACE";
    directory.trace_of_shell("bug.reenact", &begun(script), Some(Exit::Status(0)));
    let elsewhere = Directory::new();
    let output = elsewhere
        .command(&["replay", directory.path("bug.reenact").to_str().unwrap()])
        .env("LEAK", "leaked")
        .output()
        .unwrap();
    let directory = directory.path("");
    let directory = directory.to_str().unwrap().trim_end_matches('/');
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{directory}\nsh hello replay\n{directory}/bug.reenact\n")
    );
}

#[test]
fn a_directory_that_is_gone_is_said() {
    let directory = Directory::new();
    let program = program(
        "/bin/sh",
        0,
        &["sh", "-c", &begun("pwd")],
        "/no/such/directory",
    );
    directory.trace_of("bug.reenact", &program, Some(Exit::Status(0)));
    let run = directory.reenact(&["replay", "bug.reenact"]);
    assert_eq!(run.stdout, "DIR\n");
    expect![[r#"
        reenact: the program ran in /no/such/directory, which does not exist; running it in this directory
        reenact: replay 1 of 1: same end: exited with status 0
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_program_that_was_rebuilt_is_refused_unless_forced() {
    let directory = Directory::new();
    let program = program("/bin/sh", 12345, &["sh", "-c", &begun("exit 9")], "/");
    directory.trace_of("bug.reenact", &program, Some(Exit::Status(9)));
    let run = directory.reenact(&["replay", "bug.reenact"]);
    run.assert_status(125);
    expect![[r#"
        reenact: /bin/sh is not the program that was recorded: it was rebuilt or replaced since
        help: replay with the recorded build, by its path: reenact replay bug.reenact -- PROGRAM; or try with this one: reenact replay bug.reenact --force
    "#]].assert_eq(&run.stderr);
    let run = directory.reenact(&["replay", "bug.reenact", "--force"]);
    run.assert_status(9);
    expect![[r#"
        reenact: /bin/sh is not the program that was recorded; replaying it anyway
        reenact: replay 1 of 1: same end: exited with status 9
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_program_that_has_moved_is_replayed_from_where_it_is() {
    let directory = Directory::new();
    executable::copy("/bin/sh", directory.path("moved-sh"));
    let program = program(
        "/no/such/sh",
        reenact_trace::identify(&directory.path("moved-sh")).unwrap(),
        &["sh", "-c", &begun("echo $0; exit 9")],
        "/",
    );
    directory.trace_of("bug.reenact", &program, Some(Exit::Status(9)));
    let run = directory.reenact(&["replay", "bug.reenact"]);
    run.assert_status(125);
    expect![[r#"
        reenact: the recorded program is not at /no/such/sh: No such file or directory (os error 2)
        help: give its new path: reenact replay bug.reenact -- PROGRAM
    "#]]
    .assert_eq(&run.stderr);
    let run = directory.reenact(&["replay", "bug.reenact", "--", "./moved-sh"]);
    run.assert_status(9);
    assert_eq!(run.stdout, "sh\n");
    let run = directory.reenact(&[
        "replay",
        "bug.reenact",
        "--",
        "./moved-sh",
        "-c",
        &begun("exit 8"),
    ]);
    run.assert_status(86);
}

/// A script that ends as recorded, having printed something else.
const PRINTS: &str = r"printf 'printed\nthe replay prints something else\n  recorded:  one\n' >$REENACT_REPORT; \
                       printf 'reenact: the replay prints something else\n  recorded:  one\n' >&2; exit 3";

#[test]
fn another_output_is_said_and_is_not_the_same_end() {
    let (_, run) = replay(PRINTS, Some(Exit::Status(3)), &[]);
    run.assert_status(86);
    expect![[r#"
        reenact: the replay prints something else
          recorded:  one
        reenact: replay 1 of 1: differs: the program printed something else than the recorded one
    "#]]
    .assert_eq(&run.stderr);

    let (_, run) = replay(PRINTS, Some(Exit::Status(3)), &["--json"]);
    run.assert_status(86);
    expect![[r#"
        {"replay":1,"of":1,"outcome":"prints_differ","report":"the replay prints something else\n  recorded:  one"}
    "#]]
    .assert_eq(&run.stdout);

    let (_, run) = replay(PRINTS, Some(Exit::Status(3)), &["--times", "2"]);
    run.assert_status(86);
    run.assert_stderr_has("reenact: 0 of 2 replays ended as recorded\n");
}

#[test]
fn a_log_is_shown_or_kept() {
    let script = r#"printf '\tobject\t1\tmutex\tsrc/a.rs\t2\t5\nmain.0\tworker\tlock\t\0371\037\tsrc/a.rs:3\ttimed out\nmain\t-\tjoin\tmain.0\tsrc/a.rs:9\t\n' > $REENACT_LOG"#;
    let (directory, run) = replay(script, Some(Exit::Status(0)), &["--log"]);
    expect![[r#"
        main.0 (worker)  lock  mutex@src/a.rs:2  src/a.rs:3  timed out
        main             join  main.0            src/a.rs:9
    "#]]
    .assert_eq(&run.stdout);
    let run = directory.reenact(&["replay", "bug.reenact", "--log=kept"]);
    assert_eq!(run.stdout, "");
    expect![[r#"
        main.0	worker	lock	mutex@src/a.rs:2	src/a.rs:3	timed out
        main	-	join	main.0	src/a.rs:9	
    "#]]
    .assert_eq(&fs::read_to_string(directory.path("kept")).unwrap());
}

#[test]
fn standard_input_from_a_file_is_there_in_every_replay() {
    let directory = Directory::new();
    let script = "read line; test \"$line\" = hello || exit 1";
    directory.trace_of_shell("bug.reenact", &begun(script), Some(Exit::Status(0)));
    fs::write(directory.path("input"), "hello\n").unwrap();
    let status = directory
        .command(&["replay", "bug.reenact", "--times", "3"])
        .stdin(fs::File::open(directory.path("input")).unwrap())
        .output()
        .unwrap()
        .status;
    assert_eq!(status.code(), Some(0));
}
