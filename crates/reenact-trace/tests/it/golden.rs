//! Traces of old, which must be read for ever: `testdata/v1/` is never deleted.
//!
//! Beside each there is what it says. A live file is mostly zeros, so it is kept as text: its size and the rows of 16
//! bytes that are not zero. The traces are written anew only by
//! `REENACT_WRITE_GOLDEN=1 cargo test -p reenact-trace golden`, what they say by `UPDATE_EXPECT=1`.

use std::{
    fmt::Write,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use expect_test::{ExpectFile, expect_file};
use reenact_trace::{Event, Exit, Kind, Stop, append_exit, live_path, recover};

use crate::{
    reading::{copy_as_after_a_kill, dump, open},
    script::{Speaker, event, long_event, writer},
    sections::boundaries,
};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1")
}

/// Asserts what a golden file says, in a copy of it, and that making one file of it changes nothing of that.
fn check(name: &str, expected: ExpectFile) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::copy(self::directory().join(name), &path).unwrap();
    let live = live_path(&self::directory().join(name)).with_added_extension("hex");
    if live.exists() {
        from_hex(&fs::read_to_string(live).unwrap(), &live_path(&path));
    }
    let text = dump(&open(&path));
    expected.assert_eq(&text);
    recover(&path).unwrap();
    expected.assert_eq(&dump(&open(&path)));
}

#[test]
fn a_program_that_did_nothing() {
    check("empty.reenact", expect_file!["../../testdata/v1/empty.txt"]);
}

#[test]
fn everything_that_can_be_said() {
    check(
        "everything.reenact",
        expect_file!["../../testdata/v1/everything.txt"],
    );
}

#[test]
fn an_activity_that_moved_between_threads() {
    check("moved.reenact", expect_file!["../../testdata/v1/moved.txt"]);
}

#[test]
fn a_crash() {
    check("crash.reenact", expect_file!["../../testdata/v1/crash.txt"]);
}

#[test]
fn golden_files_are_written_when_asked_for() {
    if std::env::var_os("REENACT_WRITE_GOLDEN").is_none() {
        return;
    }
    let directory = directory();
    fs::create_dir_all(&directory).unwrap();
    writer(&directory.join("empty.reenact")).finish().unwrap();
    write_everything(&directory.join("everything.reenact"));
    write_moved(&directory.join("moved.reenact"));
    write_crash(&directory.join("crash.reenact"));
}

fn write_everything(path: &Path) {
    let writer = writer(path);
    let mut appender = writer.appender(100).unwrap();
    assert!(appender.start(0, 0, 0, "app"));
    let mut main = Speaker::started(&writer, 0);
    assert!(appender.start(1, 2, 0, "worker \u{2764}"));
    let mut child = Speaker::started(&writer, 1);
    assert!(appender.start(2, 1, 0, "pool"));
    let mut foreign = Speaker::started(&writer, 2);
    for kind in [
        Kind::TAKE,
        Kind::LOOK,
        Kind::DECLINED,
        Kind::TIMED_OUT,
        Kind::CHOICE,
        Kind::OUTSIDE,
        Kind::new(0x3f).unwrap(),
    ] {
        // Around the bounds of the one-byte form, and of what 64 bits hold.
        for (silent, number) in [(0, 0), (3, 15), (4, 15), (3, 16), (200, u64::MAX)] {
            assert!(main.say(&mut appender, event(silent, kind, number)));
        }
    }
    for (number, second) in [(0, 0), (127, 128), (u64::MAX, u64::MAX)] {
        for kind in [Kind::TAKE_AFTER_LOOKS, Kind::new(0x5f).unwrap()] {
            let event = Event {
                silent: 1,
                kind,
                number,
                second,
            };
            assert!(child.say(&mut appender, event));
        }
    }
    child.be_silent(300);
    assert!(child.tick(&mut appender));
    assert!(child.say(&mut appender, event(0, Kind::TAKE, 2)));
    assert!(child.end(&mut appender));
    assert!(child.say(&mut appender, event(0, Kind::TAKE, 4)));
    assert!(foreign.say_uncounted(&mut appender, event(2, Kind::CHOICE, 1)));
    main.be_silent(70_000);
    writer.stop(Stop::Asked);
    writer.clone().finish().unwrap();
    append_exit(path, Exit::Status(3)).unwrap();
}

fn write_moved(path: &Path) {
    let writer = writer(path);
    let mut older = writer.appender(100).unwrap();
    let mut younger = writer.appender(101).unwrap();
    let unused = writer.appender(102).unwrap();
    let mut one = Speaker::start(&writer, &mut younger, 0);
    let mut other = Speaker::start(&writer, &mut older, 1);
    for number in 0..3 {
        assert!(one.say(&mut older, event(0, Kind::TAKE, number)));
        assert!(other.say(&mut older, long_event(number)));
        assert!(one.say(&mut younger, event(1, Kind::LOOK, number)));
    }
    assert!(one.end(&mut older));
    one.leave();
    drop((older, younger, unused));
    writer.clone().finish().unwrap();
    append_exit(path, Exit::Signal(9)).unwrap();
}

/// What a kill leaves that falls into making one file of two: one chunk is in both, another in the live file and half in
/// the trace.
fn write_crash(path: &Path) {
    let directory = tempfile::tempdir().unwrap();
    let original = directory.path().join("original.reenact");
    let writer = writer(&original);
    let mut first = writer.appender(100).unwrap();
    let mut second = writer.appender(101).unwrap();
    let mut one = Speaker::start(&writer, &mut first, 0);
    let mut two = Speaker::start(&writer, &mut second, 1);
    assert!(one.say(&mut first, event(0, Kind::TAKE, 1)));
    assert!(two.say(&mut second, event(0, Kind::TAKE, 2)));
    assert!(one.say_uncounted(&mut second, event(1, Kind::TIMED_OUT, 300)));
    two.be_silent(9);
    let copy = directory.path().join("copy.reenact");
    copy_as_after_a_kill(&original, &copy);
    let live = fs::read(live_path(&copy)).unwrap();
    recover(&copy).unwrap();
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
