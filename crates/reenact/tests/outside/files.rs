//! Files that are read.

use std::{fs, os::unix::fs::PermissionsExt};

use expect_test::expect;

use crate::{
    oracle::{check, command, program},
    support::stage::{Stage, without_places},
};

const TEXT: &str = "seven widgets\nand a gadget\n";

#[test]
fn a_file_is_read_that_is_deleted() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::write(&world, TEXT).unwrap();
    let recorded = check(&stage, &command(&stage, "read"), || {
        fs::remove_file(&world).unwrap();
    });
    assert!(recorded.stdout.contains("seven widgets"), "{recorded:#?}");
}

#[test]
fn a_file_is_read_that_is_changed_and_grown() {
    for now in ["another text of no matter what length\n", ""] {
        let stage = Stage::new();
        let world = stage.path("world");
        fs::write(&world, TEXT).unwrap();
        check(&stage, &command(&stage, "read"), || {
            fs::write(&world, format!("{TEXT}{now}").replace('e', now)).unwrap();
        });
    }
}

#[test]
fn a_directory_is_listed_that_is_gone() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::create_dir_all(world.join("inside/deep")).unwrap();
    for n in 0..40 {
        fs::write(world.join(format!("file {n}")), "x".repeat(n)).unwrap();
    }
    std::os::unix::fs::symlink("inside", world.join("link")).unwrap();
    let recorded = check(&stage, &command(&stage, "list"), || {
        fs::remove_dir_all(&world).unwrap();
    });
    assert_eq!(recorded.stdout.lines().count(), 44);
    assert!(recorded.stdout.contains("FileType(Symlink)"));
}

#[test]
fn errors_are_the_same_errors_where_there_would_be_none() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::create_dir(&world).unwrap();
    fs::write(world.join("file"), TEXT).unwrap();
    fs::write(world.join("bytes"), [0xff, 0xfe]).unwrap();
    fs::write(world.join("closed"), TEXT).unwrap();
    fs::set_permissions(world.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let recorded = check(&stage, &command(&stage, "errors"), || {
        fs::set_permissions(world.join("closed"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(world.join("nothing"), TEXT).unwrap();
        fs::create_dir(world.join("no")).unwrap();
        fs::remove_file(world.join("file")).unwrap();
    });
    // Who may do everything is not refused anything.
    let stdout: String = recorded
        .stdout
        .lines()
        .filter(|line| !line.starts_with("closed"))
        .map(|line| format!("{line}\n"))
        .collect();
    expect![[r#"
        open: No such file or directory (os error 2), NotFound, Some(2)
        read: Is a directory (os error 21), IsADirectory, Some(21)
        metadata: No such file or directory (os error 2), NotFound, Some(2)
        list: Not a directory (os error 20), NotADirectory, Some(20)
        write: No such file or directory (os error 2), NotFound, Some(2)
        create: File exists (os error 17), AlreadyExists, Some(17)
        rename: No such file or directory (os error 2), NotFound, Some(2)
        remove: No such file or directory (os error 2), NotFound, Some(2)
        remove: Directory not empty (os error 39), DirectoryNotEmpty, Some(39)
        nul: file name contained an unexpected NUL byte, InvalidInput, None
        denied: Operation not permitted (os error 1), PermissionDenied, Some(1)
        new: File exists (os error 17), AlreadyExists, Some(17)
        invalid: stream did not contain valid UTF-8, InvalidData, None
        written: Bad file descriptor (os error 9), Uncategorized, Some(9)
        seek: Invalid argument (os error 22), InvalidInput, Some(22)
    "#]]
    .assert_eq(&stdout);
}

/// Of five million bytes that are read twice, the trace has less than twice as many.
#[test]
fn five_megabytes() {
    let stage = Stage::new();
    let world = stage.path("world");
    let mut random = 1u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 56) as u8
    })
    .take(5_000_000)
    .collect();
    fs::write(&world, bytes).unwrap();
    let recorded = check(&stage, &command(&stage, "big"), || {
        fs::remove_file(&world).unwrap();
    });
    assert!(recorded.stdout.starts_with("5000000 "), "{recorded:#?}");
}

#[test]
fn a_buffer_may_be_larger_than_it_was_but_not_too_small() {
    let stage = Stage::new();
    fs::write(stage.path("world"), "twelve bytes").unwrap();
    let program = |size: &str| program(&stage, &command(&stage, "buffer")).env("SIZE", size);
    let recorded = program("16").record_completely();
    program("16").replay().is_same_as(&recorded);
    program("20").replay().is_same_as(&recorded);
    let outcome = program("11").replay();
    let report = without_places(outcome.diverged()).replace(&*stage.path("").to_string_lossy(), "");
    expect![[r#"
        the replay differs from the recording
          activity:  main
          operation: number 2 of this activity
          trace:     an answer of another kind
          program:   read file world (read file at files.rs:_)
        The program is not the recorded one, or something that it depends on is not recorded.
    "#]]
    .assert_eq(&report);
}

#[test]
fn another_file_is_another_question() {
    let stage = Stage::new();
    let (one, other) = (stage.path("one"), stage.path("other"));
    fs::write(&one, TEXT).unwrap();
    fs::write(&other, TEXT).unwrap();
    let line = format!("two {} {}", one.display(), other.display());
    let program = |which: &str| program(&stage, &line).env("WHICH", which);
    program("0").record_completely();
    let outcome = program("1").replay();
    assert!(outcome.diverged().contains("read file"), "{outcome:#?}");
    assert!(outcome.diverged().contains("other"), "{outcome:#?}");
}

#[test]
fn a_path_is_compared() {
    let stage = Stage::new();
    fs::write(stage.path("world"), TEXT).unwrap();
    fs::write(stage.path("elsewhere"), TEXT).unwrap();
    program(&stage, &command(&stage, "read")).record_completely();
    let line = format!("read {}", stage.path("elsewhere").display());
    let outcome = program(&stage, &line).replay();
    assert!(outcome.diverged().contains("open file"), "{outcome:#?}");
    assert!(outcome.diverged().contains("elsewhere"), "{outcome:#?}");
}

#[test]
fn a_file_that_was_open_when_recording_began_is_read() {
    let stage = Stage::new();
    fs::write(stage.path("world"), TEXT).unwrap();
    let line = format!("{} {}", command(&stage, "early"), stage.trace().display());
    let outcome = program(&stage, &line).run();
    outcome.is_fine();
    assert_eq!(outcome.stdout.trim(), TEXT.trim());
    assert!(stage.recovered().is_complete());
}

#[test]
fn what_is_read_from_a_file_can_be_withheld() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::write(&world, "a secret that is in no trace").unwrap();
    let name = format!("file:{}", world.display());
    let program = program(&stage, &command(&stage, "buffer"))
        .env("REENACT_REDACT", name)
        .env("SIZE", "100");
    program.record_completely();
    let trace = fs::read(stage.trace()).unwrap();
    assert!(!trace.windows(8).any(|bytes| bytes == b"a secret"));
    let outcome = program.replay();
    assert!(outcome.diverged().contains("kept out of the trace"));
}

#[test]
fn standard_input_is_not_read_in_a_replay() {
    let stage = Stage::new();
    let text: String = (0..2000).map(|n| format!("line {n}\n")).collect();
    let path = stage.path("input");
    fs::write(&path, text).unwrap();
    let with_input = program(&stage, "input").with(move |command| {
        command.stdin(fs::File::open(&path).unwrap());
    });
    let recorded = with_input.record_completely();
    assert!(recorded.stdout.contains("line 1999"), "{recorded:#?}");
    for _ in 0..3 {
        program(&stage, "input").replay().is_same_as(&recorded);
    }
}

/// The data are last in a trace, before what says that it is whole.
#[test]
fn a_trace_whose_data_are_cut_says_so_where_they_are_missed() {
    let stage = Stage::new();
    let world = stage.path("world");
    fs::write(&world, "0123456789".repeat(10_000)).unwrap();
    let program = program(&stage, &command(&stage, "read-often"));
    let recorded = program.record_completely();
    let size = fs::metadata(stage.trace()).unwrap().len();
    let trace = fs::OpenOptions::new()
        .write(true)
        .open(stage.trace())
        .unwrap();
    trace.set_len(size - 50_000).unwrap();
    let outcome = program.replay();
    let report = outcome.diverged();
    assert!(
        report.starts_with("the trace cannot be read any further: ")
            && report.contains("not whole"),
        "{report}"
    );
    assert!(
        report.contains("activity:  main") && report.contains("world"),
        "{report}"
    );
    assert_eq!((&*recorded.stdout, &*outcome.stdout), ("2000000\n", ""));
}

#[test]
fn the_same_bytes_are_in_the_trace_once() {
    let size = |text: String| {
        let stage = Stage::new();
        fs::write(stage.path("world"), text).unwrap();
        program(&stage, &command(&stage, "read-often")).record_completely();
        fs::metadata(stage.trace()).unwrap().len()
    };
    let (short, long) = (size("x".to_owned()), size("0123456789".repeat(10_000)));
    assert!(long < short + 150_000, "{short} {long}");
}
