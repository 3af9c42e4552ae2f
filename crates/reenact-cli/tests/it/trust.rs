//! A recording starts no program that the user has not confirmed.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use expect_test::expect;
use reenact_testing::executable;
use reenact_trace::{Exit, Program, identify};

use crate::run::{Directory, Run, program};

/// What the program of these recordings does: it leaves a file.
const BEGINS: &str = "echo begun >begun; : >$REENACT_REPORT.claim; exit 0";

/// A recording of a copy of the shell, at this path of the directory.
fn recorded_here(directory: &Directory, name: &str) -> Program {
    executable::copy("/bin/sh", directory.path(name));
    let build_id = identify(&directory.path(name)).unwrap();
    program(
        directory.path(name),
        build_id,
        &["sh", "-c", BEGINS],
        directory.path(""),
    )
}

fn replay(directory: &Directory, program: &Program) -> Run {
    let _ = fs::remove_file(directory.path("begun"));
    directory.trace_of("bug.reenact", program, Some(Exit::Status(0)));
    directory.finish(&mut directory.command_as_is(&["replay", "bug.reenact"]))
}

#[track_caller]
fn is_refused(directory: &Directory, run: &Run, why: &str) {
    run.assert_status(125);
    run.assert_stderr_has(why);
    run.assert_stderr_has("add --trust");
    assert!(!directory.path("begun").exists(), "{}", run.stderr);
}

#[track_caller]
fn is_started(directory: &Directory, run: &Run) {
    assert!(directory.path("begun").exists(), "{}", run.stderr);
    run.assert_status(0);
}

#[test]
fn no_command_starts_a_program_elsewhere() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", BEGINS, Some(Exit::Status(0)));
    for (arguments, status) in [
        (&["replay", "bug.reenact"][..], 125),
        (&["refine", "bug.reenact", "--lanes"], 125),
        (&["explore", "bug.reenact"], 2),
        (&["debug", "bug.reenact"], 2),
    ] {
        let run = directory.finish(&mut directory.command_as_is(arguments));
        run.assert_status(status);
        expect![[r#"
            reenact: did not start /bin/sh: it is not below the current directory, and nobody has confirmed it
            help: it would run, in DIR/: sh -c 'echo begun >begun; : >$REENACT_REPORT.claim; exit 0'; if you trust the recording, add --trust
        "#]]
        .assert_eq(&run.stderr.replace("in DIR:", "in DIR/:"));
        assert!(!directory.path("begun").exists(), "{arguments:?}");
    }
}

#[test]
fn a_program_that_is_trusted_or_named_is_started() {
    let directory = Directory::new();
    directory.trace_of_shell("bug.reenact", BEGINS, Some(Exit::Status(0)));
    for arguments in [
        &["replay", "bug.reenact", "--trust"][..],
        &["replay", "bug.reenact", "--", "/bin/sh"],
        &["explore", "bug.reenact", "--trust"],
        &["explore", "bug.reenact", "--", "/bin/sh"],
        &["debug", "bug.reenact", "--trust"],
    ] {
        let _ = fs::remove_file(directory.path("begun"));
        let run = directory.finish(&mut directory.command_as_is(arguments));
        assert!(
            directory.path("begun").exists(),
            "{arguments:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_program_below_the_current_directory_is_started_if_it_is_the_recorded_build() {
    let directory = Directory::new();
    fs::create_dir(directory.path("target")).unwrap();
    let program = recorded_here(&directory, "target/app");
    is_started(&directory, &replay(&directory, &program));

    let unknown = Program {
        build_id: 0,
        ..program.clone()
    };
    let run = replay(&directory, &unknown);
    is_refused(
        &directory,
        &run,
        "the recording does not say which build it is of",
    );

    let other = Program {
        build_id: 1,
        ..program.clone()
    };
    let run = replay(&directory, &other);
    run.assert_status(125);
    run.assert_stderr_has("is not the program that was recorded");
    let command = ["replay", "bug.reenact", "--force"];
    let run = directory.finish(&mut directory.command_as_is(&command));
    is_refused(&directory, &run, "it is not the build that was recorded");

    let path = directory.path("target/app");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o757)).unwrap();
    let run = replay(&directory, &program);
    is_refused(&directory, &run, "every user can change it");
}

#[test]
fn a_path_that_leads_out_of_the_current_directory_is_not_below_it() {
    let directory = Directory::new();
    fs::create_dir(directory.path("here")).unwrap();
    let program = recorded_here(&directory, "app");
    // A link below the directory to a program outside, and a path that goes up.
    std::os::unix::fs::symlink("../app", directory.path("here/app")).unwrap();
    std::os::unix::fs::symlink("..", directory.path("here/up")).unwrap();
    directory.trace_of("bug.reenact", &program, None);
    for path in ["here/app", "here/../app", "here/up/app"] {
        let program = Program {
            executable: directory.path(path),
            ..program.clone()
        };
        directory.trace_of("bug.reenact", &program, None);
        let mut command = directory.command_as_is(&["replay", "../bug.reenact"]);
        let run = directory.finish(command.current_dir(directory.path("here")));
        is_refused(&directory, &run, "it is not below the current directory");
    }
}

#[test]
fn the_root_is_no_current_directory_of_anybody() {
    let directory = Directory::new();
    let trace = directory.trace_of_shell("bug.reenact", BEGINS, None);
    let mut command = directory.command_as_is(&["replay", trace.to_str().unwrap()]);
    let run = directory.finish(command.current_dir("/"));
    is_refused(
        &directory,
        &run,
        "everything is below the current directory, which is the root",
    );
}

#[test]
fn a_name_without_a_directory_is_not_looked_up() {
    let directory = Directory::new();
    let build_id = identify(Path::new("/bin/sh")).unwrap();
    let program = program("sh", build_id, &["sh", "-c", BEGINS], directory.path(""));
    directory.trace_of("bug.reenact", &program, None);
    let run = directory.reenact(&["replay", "bug.reenact"]);
    run.assert_status(125);
    run.assert_stderr_has("the recorded program is not at DIR/sh");
    assert!(!directory.path("begun").exists());
}

#[test]
fn a_program_that_is_no_file_is_refused_at_once() {
    let directory = Directory::new();
    let program = program("/dev/zero", 1, &["zero"], directory.path(""));
    directory.trace_of("bug.reenact", &program, None);
    let run = directory.reenact(&["replay", "bug.reenact"]);
    run.assert_status(125);
    run.assert_stderr_has("/dev/zero: it is a pipe, a socket or a device, not a file");
}
