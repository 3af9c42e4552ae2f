//! Traces of old, which must be read for ever: `testdata/v1/`, `v2/` and `v3/` are never deleted.
//!
//! Beside each there is what it says. A live file is mostly zeros, so it is kept as text: its size and the rows of 16
//! bytes that are not zero. Those of version 3 are written anew only by
//! `REENACT_WRITE_GOLDEN=1 cargo test -p reenact-trace golden`, what they say by `UPDATE_EXPECT=1`.

use std::{
    fmt::Write,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use expect_test::{ExpectFile, expect_file};
use reenact_trace::{Event, Exit, Kind, StopReason, append_exit, live_path, recover};

use crate::{
    reading::{copy_as_after_a_kill, dump, finish, is_grouped, open, recover_in_chunks},
    script::{Recorder, bytes, event, long_event, writer},
    sections::boundaries,
};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

/// Asserts what a golden file says, in a copy of it, and that making one file of it changes nothing of that, nor its
/// version.
fn check(name: &str, expected: ExpectFile) {
    let (_directory, path) = crate::in_directory("golden.reenact");
    fs::copy(self::directory().join(name), &path).unwrap();
    let live = live_path(&self::directory().join(name)).with_added_extension("hex");
    if live.exists() {
        from_hex(&fs::read_to_string(&live).unwrap(), &live_path(&path));
    }
    let text = dump(&open(&path));
    expected.assert_eq(&text);
    let version = fs::read(&path).unwrap()[8];
    let grouped = recover(&path).unwrap() && is_grouped(&path);
    expected.assert_eq(&dump(&open(&path)));
    assert_eq!(fs::read(&path).unwrap()[8], version);
    assert_eq!(grouped, live.exists() && version > 1);
}

#[test]
fn a_program_that_did_nothing() {
    check(
        "v1/empty.reenact",
        expect_file!["../../testdata/v1/empty.txt"],
    );
    check(
        "v2/empty.reenact",
        expect_file!["../../testdata/v2/empty.txt"],
    );
    check(
        "v3/empty.reenact",
        expect_file!["../../testdata/v3/empty.txt"],
    );
}

#[test]
fn everything_that_can_be_said() {
    check(
        "v1/everything.reenact",
        expect_file!["../../testdata/v1/everything.txt"],
    );
    check(
        "v2/everything.reenact",
        expect_file!["../../testdata/v2/everything.txt"],
    );
    check(
        "v3/everything.reenact",
        expect_file!["../../testdata/v3/everything.txt"],
    );
}

#[test]
fn everything_in_chunks() {
    check(
        "v2/chunks.reenact",
        expect_file!["../../testdata/v2/everything.txt"],
    );
    check(
        "v3/chunks.reenact",
        expect_file!["../../testdata/v3/everything.txt"],
    );
}

#[test]
fn an_activity_that_moved_between_threads() {
    check(
        "v1/moved.reenact",
        expect_file!["../../testdata/v1/moved.txt"],
    );
    check(
        "v2/moved.reenact",
        expect_file!["../../testdata/v2/moved.txt"],
    );
    check(
        "v3/moved.reenact",
        expect_file!["../../testdata/v3/moved.txt"],
    );
}

#[test]
fn actors_of_which_some_say_something() {
    check(
        "v2/actors.reenact",
        expect_file!["../../testdata/v2/actors.txt"],
    );
    check(
        "v3/actors.reenact",
        expect_file!["../../testdata/v3/actors.txt"],
    );
}

#[test]
fn a_crash() {
    check(
        "v1/crash.reenact",
        expect_file!["../../testdata/v1/crash.txt"],
    );
    check(
        "v2/crash.reenact",
        expect_file!["../../testdata/v2/crash.txt"],
    );
    check(
        "v3/crash.reenact",
        expect_file!["../../testdata/v3/crash.txt"],
    );
}

#[test]
fn golden_files_are_written_when_asked_for() {
    if std::env::var_os("REENACT_WRITE_GOLDEN").is_none() {
        return;
    }
    let directory = directory().join("v3");
    fs::create_dir_all(&directory).unwrap();
    writer(&directory.join("empty.reenact")).finish().unwrap();
    write_everything(&directory.join("everything.reenact"), false);
    write_everything(&directory.join("chunks.reenact"), true);
    write_moved(&directory.join("moved.reenact"));
    write_actors(&directory.join("actors.reenact"));
    write_crash(&directory.join("crash.reenact"));
}

fn write_everything(path: &Path, in_chunks: bool) {
    let writer = writer(path);
    let mut appender = writer.appender(100).unwrap();
    let mut main = Recorder::start_as(&mut appender, 0, 0, 0, "app");
    let mut child = Recorder::start_as(&mut appender, 1, 2, 0, "worker \u{2764}");
    let mut foreign = Recorder::start_as(&mut appender, 2, 1, 0, "pool");
    for kind in [
        Kind::TAKE,
        Kind::LOOK,
        Kind::DECLINED,
        Kind::TIMED_OUT,
        Kind::CHOICE,
        Kind::OUTSIDE,
        Kind::RECEIVE,
        Kind::CLOCK,
        Kind::WITHHELD,
        Kind::new(0x0a).unwrap(),
        Kind::new(0x1f).unwrap(),
    ] {
        // Around the bounds of the short forms, and of what 64 bits hold.
        for (silent, number) in [
            (0, 0),
            (1, 4095),
            (1, 4096),
            (2, 4095),
            (3, 15),
            (4, 15),
            (3, 16),
            (200, u64::MAX),
        ] {
            assert!(main.say(&mut appender, event(silent, kind, number)));
        }
    }
    for (number, second) in [(0, 0), (127, 128), (u64::MAX, u64::MAX)] {
        for kind in [
            Kind::TAKE_AFTER_LOOKS,
            Kind::PIPELINED,
            Kind::CHILDREN,
            Kind::ANSWER,
            Kind::new(0x5f).unwrap(),
        ] {
            let event = Event {
                silent: 1,
                kind,
                number,
                second,
            };
            assert!(child.say(&mut appender, event));
        }
    }
    for data in [&b"from outside"[..], b"", &[7; 300], b"from outside"] {
        assert!(child.say_data(&mut appender, data));
    }
    assert!(main.say_data(&mut appender, &bytes(16_500, 1)));
    child.be_silent(300);
    assert!(child.tick(&mut appender));
    assert!(child.say(&mut appender, event(0, Kind::TAKE, 2)));
    assert!(child.end(&mut appender));
    assert!(child.say(&mut appender, event(0, Kind::TAKE, 4)));
    assert!(foreign.say_uncounted(&mut appender, event(2, Kind::CHOICE, 1)));
    main.be_silent(70_000);
    writer.stop(StopReason::Asked);
    drop(appender);
    finish(writer, path, in_chunks, 3);
}

fn write_moved(path: &Path) {
    let writer = writer(path);
    let mut older = writer.appender(100).unwrap();
    let mut younger = writer.appender(101).unwrap();
    let unused = writer.appender(102).unwrap();
    let mut one = Recorder::start(&mut younger, 0);
    let mut other = Recorder::start(&mut older, 1);
    for number in 0..3 {
        assert!(one.say(&mut older, event(0, Kind::TAKE, number)));
        assert!(other.say(&mut older, long_event(number)));
        assert!(one.say(&mut younger, event(1, Kind::LOOK, number)));
    }
    assert!(one.end(&mut older));
    one.leave(&mut older);
    drop((older, younger, unused));
    writer.clone().finish().unwrap();
    append_exit(path, Exit::Signal(9)).unwrap();
}

/// A thread with two blocks of actors, and an actor with one. Some talk in turns on two threads, some end quietly, alike
/// or not, some are idle at the end, and the last numbers are nobody's.
fn write_actors(path: &Path) {
    let children = |first, count| Event {
        second: count,
        ..event(0, Kind::CHILDREN, first)
    };
    let writer = writer(path);
    let mut first = writer.appender(100).unwrap();
    let mut second = writer.appender(101).unwrap();
    let mut main = Recorder::start_as(&mut first, 0, 0, 0, "app");
    assert!(main.say(&mut first, children(10, 4)));
    let mut actors: Vec<_> = (10..14)
        .map(|number| Recorder::quiet(&mut first, number))
        .collect();
    assert!(actors[1].say(&mut second, children(14, 2)));
    assert!(main.say(&mut first, children(5000, 12)));
    actors.extend((14..16).map(|number| Recorder::quiet(&mut second, number)));
    actors.extend((5000..5010).map(|number| Recorder::quiet(&mut first, number)));
    for round in 0..3 {
        for actor in [0, 1, 4, 8] {
            let appender = if (round + actor) % 2 == 0 {
                &mut first
            } else {
                &mut second
            };
            assert!(actors[actor].say(appender, event(1, Kind::RECEIVE, actor as u64)));
            assert!(actors[actor].say(appender, event(0, Kind::CLOCK, 5000)));
            if actor != 4 {
                assert!(actors[actor].tick(appender));
            }
        }
    }
    for actor in [5, 6, 7, 9, 10] {
        actors[actor].be_silent(actor as u32 / 9);
        assert!(actors[actor].end_quietly(&mut second));
    }
    assert!(actors[0].end(&mut second));
    actors[0].leave(&mut second);
    actors[12].be_silent(7);
    drop((first, second));
    writer.finish().unwrap();
}

/// What a kill leaves that falls into making one file of two: one chunk is in both, another in the live file and half in
/// the trace. There are data in a third.
fn write_crash(path: &Path) {
    let (directory, original) = crate::in_directory("original.reenact");
    let writer = writer(&original);
    let mut first = writer.appender(100).unwrap();
    let mut second = writer.appender(101).unwrap();
    let mut one = Recorder::start(&mut first, 0);
    let mut two = Recorder::start(&mut second, 1);
    assert!(one.say(&mut first, event(0, Kind::TAKE, 1)));
    assert!(two.say(&mut second, event(0, Kind::TAKE, 2)));
    assert!(one.say_uncounted(&mut second, event(1, Kind::TIMED_OUT, 300)));
    assert!(two.say_data(&mut first, b"from outside"));
    two.be_silent(9);
    for number in 2..5 {
        let mut quiet = Recorder::quiet(&mut first, number);
        assert!(quiet.end_quietly(&mut first));
    }
    let copy = directory.path().join("copy.reenact");
    copy_as_after_a_kill(&original, &copy);
    let live = fs::read(live_path(&copy)).unwrap();
    recover_in_chunks(&copy);
    let whole = fs::read(&copy).unwrap();
    fs::write(path, &whole[..boundaries(&whole)[2] + 47]).unwrap();
    fs::write(live_path(path).with_added_extension("hex"), to_hex(&live)).unwrap();
}

fn to_hex(bytes: &[u8]) -> String {
    let mut text = format!("{:08x} bytes\n", bytes.len());
    for (index, row) in bytes.chunks(16).enumerate() {
        if row.iter().any(|&byte| byte != 0) {
            write!(text, "{:08x}", index * 16).unwrap();
            for byte in row {
                write!(text, " {byte:02x}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn from_hex(text: &str, path: &Path) {
    let file = File::create(path).unwrap();
    let number = |digits| u64::from_str_radix(digits, 16).unwrap();
    for line in text.lines() {
        let (place, rest) = line.split_once(' ').unwrap();
        if rest == "bytes" {
            file.set_len(number(place)).unwrap();
        } else {
            let row: Vec<_> = rest.split(' ').map(|byte| number(byte) as u8).collect();
            file.write_all_at(&row, number(place)).unwrap();
        }
    }
}
