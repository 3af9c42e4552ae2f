//! Files that are not for this library, and what it says of them.

use std::{fs, path::Path};

use expect_test::{Expect, expect};
use reenact_trace::{Trace, append_exit, live_path, recover};

use crate::{
    reading::open,
    sections::{
        self, CHUNK, DATA, DIRECTORY, ORDERED_DATA, STREAMS, file_header, live_header, section,
    },
};

/// Asserts what opening says of a file with these bytes. The path in it is shortened to `FILE`.
fn check(bytes: &[u8], expected: Expect) {
    let (_directory, path) = crate::in_directory("refused.reenact");
    fs::write(&path, bytes).unwrap();
    check_path(&path, expected);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

fn check_path(path: &Path, expected: Expect) {
    let short = |text: String| text.replace(path.to_str().unwrap(), "FILE");
    let Err(error) = Trace::open(path) else {
        panic!("it was opened");
    };
    expected.assert_eq(&short(error.to_string()));
    // Writing to it fails with the same error.
    expected.assert_eq(&short(recover(path).unwrap_err().to_string()));
    let exit = reenact_trace::Exit::Status(0);
    expected.assert_eq(&short(append_exit(path, exit).unwrap_err().to_string()));
}

#[test]
fn another_format_version() {
    let mut bytes = file_header(4);
    bytes.extend(b"whatever version 4 has here");
    check(
        &bytes,
        expect![
            "FILE is a trace of format version 4; this reenact reads versions 1 to 3: use the reenact it was recorded with"
        ],
    );
}

#[test]
fn something_else() {
    check(
        b"#!/bin/sh\necho this is a script\n",
        expect!["FILE is not a Reenact trace (it does not begin with REENACT)"],
    );
}

#[test]
fn an_empty_file() {
    check(
        b"",
        expect!["FILE is not a Reenact trace (it does not begin with REENACT)"],
    );
}

#[test]
fn a_header_and_nothing_else() {
    check(
        &file_header(3),
        expect!["FILE: the section that names the program is missing or damaged at byte 16"],
    );
}

#[test]
fn a_directory() {
    let directory = tempfile::tempdir().unwrap();
    check_path(
        directory.path(),
        expect!["cannot open FILE: Is a directory (os error 21)"],
    );
}

#[test]
fn a_file_that_is_not_there() {
    check_path(
        Path::new("/nonexistent/bug.reenact"),
        expect!["cannot open FILE: No such file or directory (os error 2)"],
    );
}

#[test]
fn reserved_bytes_that_mean_something_to_someone() {
    let mut bytes = file_header(3);
    bytes[12] = 1;
    bytes.extend(sections::program(3));
    check(
        &bytes,
        expect!["FILE: reserved bytes of the header are not zero at byte 10"],
    );
}

/// Asserts what a trace with these sections after its program says is wrong with it.
fn check_damage(sections: &[Vec<u8>], expected: Expect) {
    let (_directory, path) = crate::in_directory("damaged.reenact");
    let mut bytes = file_header(3);
    bytes.extend(sections::program(3));
    bytes.extend(sections.concat());
    fs::write(&path, bytes).unwrap();
    let trace = open(&path);
    let damage = match trace.check(|_| ()) {
        Ok(()) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&damage.replace(path.to_str().unwrap(), "FILE"));
}

#[test]
fn sections_that_nobody_writes() {
    let plain = |payload: &[u8]| section(CHUNK, 0, 0, 0, 0, payload);
    let structured = |payload: &[u8]| section(CHUNK, 1, 0, 0, 0, payload);
    check_damage(&[plain(&[0x81])], expect!["nothing"]);
    check_damage(
        &[section(10, 0, 0, 0, 0, b"?")],
        expect!["FILE: a section of an unknown kind at byte 96"],
    );
    check_damage(
        &[section(3, 0, 0, 0, 0, &[0; 13])],
        expect!["FILE: the counters of activities are malformed at byte 96"],
    );
    check_damage(
        &[section(4, 0, 0, 0, 0, &[9, 0, 0, 0, 0, 0, 0, 0])],
        expect!["FILE: the mark of an early end is malformed at byte 96"],
    );
    check_damage(
        &[section(5, 0, 0, 0, 0, &[2, 0, 0, 0, 0, 0, 0, 0])],
        expect!["FILE: the exit status is malformed at byte 96"],
    );
    check_damage(
        &[plain(&vec![0x81; 16321])],
        expect!["FILE: a chunk is longer than chunks can be at byte 136"],
    );
    check_damage(
        &[plain(&[0x81]), section(CHUNK, 0, 2, 0, 1, &[0x81])],
        expect!["FILE: a chunk is missing or repeated: this is not the next one at byte 177"],
    );
    check_damage(
        &[plain(&[0x81]), section(CHUNK, 0, 1, 0, 5, &[0x81])],
        expect!["FILE: events of an activity are missing before the chunk at byte 177"],
    );
    check_damage(
        &[plain(&[0x60, 1, 0])],
        expect!["FILE: an activity is named in a chunk that says it has only one at byte 136"],
    );
    check_damage(
        &[structured(&[0x81, 0x00])],
        expect!["FILE: an unknown kind of entry at byte 137"],
    );
    check_damage(
        &[structured(&[0x81, 0x61, 0, 0, 65])],
        expect!["FILE: a name longer than names can be at byte 137"],
    );
    check_damage(
        &[structured(&[0x01, 0, 0x80])],
        expect!["FILE: an entry that is cut short at byte 136"],
    );
    check_damage(
        &[structured(&[0x81, 0x70, 0x02])],
        expect!["FILE: a switch back to an activity that the chunk has no entries of at byte 137"],
    );
    check_damage(
        &[structured(&[0x65, 3, 0, 1, 2, 3, 4, 0, 0])],
        expect!["FILE: a run of ends of no activities at byte 136"],
    );
    let run = [0x65, 3, 0, 1, 2, 3, 4, 2, 0];
    check_damage(&[structured(&run)], expect!["nothing"]);
    check_damage(
        &[structured(&run), section(CHUNK, 1, 1, 0, 0, &run)],
        expect!["FILE: an activity ends quietly for the second time at byte 185"],
    );
}

/// Traces by activity, the directory of which is this, and then streams.
#[test]
fn directories_that_nobody_writes() {
    let directory = |payload: &[u8]| section(DIRECTORY, 0, 0, 0, 0, payload);
    let streams = |payload: &[u8]| section(STREAMS, 0, 1, 0, 0, payload);
    let tails = |before| section(3, 0, before, 0, 0, &[]);
    check_damage(&[directory(&[]), tails(1)], expect!["nothing"]);
    check_damage(
        &[directory(&[]), tails(2)],
        expect!["FILE: a section is missing or repeated: this is not the next one at byte 136"],
    );
    check_damage(
        &[directory(&[0x20, 0, 2]), streams(&[0x81, 0x82]), tails(2)],
        expect!["nothing"],
    );
    check_damage(
        &[directory(&[0x20, 0, 3]), streams(&[0x81, 0x82]), tails(2)],
        expect!["FILE: the streams are not as long as the directory says at byte 221"],
    );
    check_damage(
        &[
            directory(&[0x20, 0, 3]),
            streams(&[0x81, 0x60, 0]),
            tails(2),
        ],
        expect!["FILE: an entry that is cut short at byte 180"],
    );
    check_damage(
        &[
            directory(&[0x20, 0, 4]),
            streams(&[0x81, 0x60, 0, 0]),
            tails(2),
        ],
        expect!["FILE: the stream of an activity has more than its items at byte 180"],
    );
    check_damage(
        &[
            directory(&[0x20, 0, 1]),
            section(STREAMS, 0, 2, 0, 0, &[0x81]),
        ],
        expect!["FILE: a section is missing or repeated: this is not the next one at byte 179"],
    );
    check_damage(
        &[
            directory(&[0x20, 0, 1]),
            section(STREAMS, 0, 1, 0, 1, &[0x81]),
        ],
        expect!["FILE: a section is missing or repeated: this is not the next one at byte 179"],
    );
    check_damage(
        &[directory(&[]), streams(&vec![0x81; (1 << 20) + 1])],
        expect!["FILE: a section of streams is longer than such can be at byte 176"],
    );
    check_damage(
        &[directory(&[0x40, 0])],
        expect!["FILE: an unknown kind of entry in the directory at byte 96"],
    );
    check_damage(
        &[directory(&[0x16, 0, 2])],
        expect!["FILE: an unknown kind of entry in the directory at byte 96"],
    );
    check_damage(
        &[directory(&[0x10, 0, 0])],
        expect!["FILE: an activity with a number that cannot be at byte 96"],
    );
    check_damage(
        &[directory(&[0x00, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0])],
        expect!["FILE: an activity with a number that cannot be at byte 96"],
    );
    check_damage(
        &[directory(&[0x01, 0, 5, 0])],
        expect!["FILE: numbers of children that cannot be at byte 96"],
    );
    let long = [&[0x20, 0][..], &[0xff; 9], &[0x01]].concat();
    check_damage(
        &[directory(&long)],
        expect!["FILE: streams that are longer than streams can be at byte 96"],
    );
    check_damage(
        &[directory(&[]), section(CHUNK, 0, 0, 0, 0, &[0x81])],
        expect!["FILE: the trace is both in chunks and by activity at byte 176"],
    );
    check_damage(
        &[section(CHUNK, 0, 0, 0, 0, &[0x81]), directory(&[])],
        expect!["FILE: the trace is both in chunks and by activity at byte 137"],
    );
    check_damage(
        &[directory(&[]), section(3, 0, 1, 0, 0, &[0; 12])],
        expect!["FILE: the counters of activities are twice there at byte 136"],
    );
    check_damage(
        &[directory(&[0x00, 3]), section(DIRECTORY, 0, 1, 2, 0, &[])],
        expect!["FILE: activities of the directory are not in order at byte 138"],
    );
}

#[test]
fn data_that_nobody_writes() {
    let data = |payload: &[u8]| section(DATA, 0, 0, 0, 0, payload);
    check_damage(&[data(&[0, 2, 0, 2, b'a', b'b'])], expect!["nothing"]);
    // Killed in the midst of it.
    check_damage(&[data(&[0, 3, 0, 2, b'a', b'b'])], expect!["nothing"]);
    check_damage(
        &[data(&[0, 2, 0, 2, b'a'])],
        expect!["FILE: a piece of data is cut short at byte 136"],
    );
    check_damage(
        &[data(&[0, 2, 1, 2, b'a', b'b'])],
        expect!["FILE: a piece of data is not within the data at byte 136"],
    );
    check_damage(
        &[data(&[0, 2, 0, 0])],
        expect!["FILE: a piece of data is not within the data at byte 136"],
    );
    check_damage(
        &[data(&[0, 0, 0, 0, 0, 0, 0, 0])],
        expect!["FILE: a piece of data is twice there at byte 144"],
    );
    check_damage(
        &[
            data(&[0, 3, 0, 2, b'a', b'b']),
            section(DATA, 0, 1, 0, 0, &[0, 3, 1, 2, b'b', b'c']),
        ],
        expect!["FILE: a piece of data is twice there at byte 186"],
    );
    check_damage(
        &[data(&[0, 3, 0, 1, b'a', 0, 2, 1, 1, b'b'])],
        expect!["FILE: a piece of data is twice there at byte 145"],
    );
    check_damage(
        &[data(&vec![0; 16321])],
        expect!["FILE: a chunk is longer than chunks can be at byte 136"],
    );
    check_damage(
        &[
            section(CHUNK, 0, 0, 0, 0, &[]),
            section(DATA, 0, 2, 0, 0, &[]),
        ],
        expect!["FILE: a chunk is missing or repeated: this is not the next one at byte 176"],
    );
}

/// A section of data in order, which says that so many data begin in it and how many bytes these are.
fn ordered(sequence: u64, first: u64, begun: u32, bytes: u8, payload: &[u8]) -> Vec<u8> {
    let mut section = section(ORDERED_DATA, 0, sequence, begun, first, payload);
    section[28] = bytes;
    sections::seal(&mut section);
    section
}

#[test]
fn data_in_order_that_nobody_writes() {
    let directory = || section(DIRECTORY, 0, 0, 0, 0, &[]);
    let tails = |before| section(3, 0, before, 0, 0, &[]);
    let pieces = [4, 2, 0, 2, b'a', b'b', 6, 0, 0, 0, 9, 2, 0, 1, b'c'];
    let begun = || ordered(1, 4, 3, 3, &pieces);
    let rest = |payload: &[u8]| ordered(2, 9, 0, 1, payload);
    check_damage(
        &[directory(), begun(), rest(&[9, 2, 1, 1, b'd']), tails(3)],
        expect!["nothing"],
    );
    check_damage(
        &[directory(), begun(), tails(2)],
        expect!["FILE: a piece of data is missing or repeated at byte 191"],
    );
    check_damage(
        &[directory(), begun(), rest(&[9, 3, 1, 1, b'd']), tails(3)],
        expect!["FILE: a piece of data is missing or repeated at byte 235"],
    );
    check_damage(
        &[directory(), rest(&[9, 2, 1, 1, b'd']), tails(3)],
        expect!["FILE: a section is missing or repeated: this is not the next one at byte 176"],
    );
    for (first, begun, bytes) in [(3, 3, 3), (4, 2, 3), (4, 3, 2)] {
        check_damage(
            &[directory(), ordered(1, first, begun, bytes, &pieces)],
            expect!["FILE: a section of data has other data than it says at byte 176"],
        );
    }
    check_damage(
        &[directory(), ordered(1, 0, 0, 0, &[])],
        expect!["FILE: a section of data has other data than it says at byte 176"],
    );
    check_damage(
        &[directory(), ordered(1, 4, 2, 0, &[4, 0, 0, 0, 3, 0, 0, 0])],
        expect!["FILE: pieces of data are not in order at byte 180"],
    );
    check_damage(
        &[directory(), ordered(1, 4, 1, 0, &[4, 0, 0, 0, 5])],
        expect!["FILE: an entry that is cut short at byte 180"],
    );
    check_damage(
        &[
            directory(),
            ordered(1, 4, 1, 0, &[4, 0, 0, 0]),
            ordered(2, 3, 1, 0, &[3, 0, 0, 0]),
        ],
        expect!["FILE: sections of data are not in order at byte 220"],
    );
    check_damage(
        &[directory(), ordered(1, 0, 0, 0, &vec![0; (1 << 20) + 1])],
        expect!["FILE: a section of data is longer than such can be at byte 176"],
    );
    check_damage(
        &[
            section(CHUNK, 0, 0, 0, 0, &[0x81]),
            ordered(0, 0, 0, 0, &[]),
        ],
        expect!["FILE: the trace is both in chunks and by activity at byte 177"],
    );
    check_damage(
        &[directory(), section(DATA, 0, 0, 0, 0, &[])],
        expect!["FILE: the trace is both in chunks and by activity at byte 176"],
    );
}

/// Older versions had no data, and what is one now was nothing.
#[test]
fn data_in_a_trace_of_version_2() {
    let (_directory, path) = crate::in_directory("old.reenact");
    for kind in [DATA, ORDERED_DATA] {
        let mut bytes = file_header(2);
        bytes.extend(sections::program(2));
        bytes.extend(section(kind, 0, 0, 0, 0, &[]));
        fs::write(&path, bytes).unwrap();
        let trace = open(&path);
        expect!["a section of an unknown kind at byte 92"]
            .assert_eq(&trace.damage().unwrap().to_string());
    }
    for version in [1, 2, 3] {
        for other in (1..=3).filter(|other| *other != version) {
            let mut bytes = file_header(version);
            bytes.extend(sections::program(other));
            fs::write(&path, bytes).unwrap();
            // Versions 1 and 2 differ in nothing but their number.
            assert_eq!(Trace::open(&path).is_ok(), version.max(other) < 3);
        }
    }
}

/// Asserts what a sound trace says with such a live file beside it.
fn check_live(live: &[u8], expected: Expect) {
    let (_directory, path) = crate::in_directory("damaged.reenact");
    let mut bytes = file_header(3);
    bytes.extend(sections::program(3));
    fs::write(&path, bytes).unwrap();
    fs::write(live_path(&path), live).unwrap();
    let trace = open(&path);
    assert!(!trace.is_complete());
    expected.assert_eq(&trace.damage().unwrap().to_string());
    assert!(recover(&path).is_err());
    assert_eq!(fs::read(live_path(&path)).unwrap(), live);
}

#[test]
fn live_files_that_nobody_writes() {
    check_live(b"", expect!["the live file is cut short at byte 0"]);
    check_live(
        &[0; 4096],
        expect!["the live file does not begin as one at byte 0"],
    );
    for version in [0, 1, 2, 4] {
        check_live(
            &live_header(version, &[]),
            expect!["the live file is of another format version at byte 8"],
        );
    }
    let mut stop = live_header(3, &[]);
    stop[16] = 77;
    check_live(
        &stop,
        expect!["the live file's mark of an early end is malformed at byte 16"],
    );
    check_live(
        &live_header(3, &[1]),
        expect!["the live file is cut short at byte 4096"],
    );
    let mut slab = live_header(3, &[3]);
    slab.resize(4096 + (1 << 20), 0);
    check_live(
        &slab,
        expect!["a slab of an unknown kind is in the live file at byte 4096"],
    );
    let with_chunk = |change: fn(&mut [u8])| {
        let mut live = live_header(3, &[1]);
        live.extend(sections::live_chunk(0, 0, 0, 0, &[0x81]));
        live.resize(4096 + (1 << 20), 0);
        change(&mut live[4096..]);
        live
    };
    check_live(
        &with_chunk(|chunk| chunk[0] = 0),
        expect!["a chunk in the live file does not begin as one at byte 4096"],
    );
    check_live(
        &with_chunk(|chunk| chunk[4] = 2),
        expect!["a chunk in the live file does not begin as one at byte 4096"],
    );
    check_live(
        &with_chunk(|chunk| chunk[34] = 1),
        expect!["a chunk in the live file is longer than chunks can be at byte 4096"],
    );
}

#[test]
fn a_pipe_or_a_device_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe.reenact");
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: A plain call with a string that outlives it.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let expected = "it is a pipe, a socket or a device, not a file";
    for path in [&path, Path::new("/dev/zero")] {
        let Err(error) = Trace::open(path) else {
            panic!("it was opened");
        };
        assert!(error.to_string().ends_with(expected), "{error}");
        let error = reenact_trace::identify(path).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_live_file_that_is_a_pipe_or_a_link_is_refused_at_once() {
    let (directory, path) = crate::in_directory("bug.reenact");
    let file = crate::script::bytes(10, 1);
    fs::write(directory.path().join("other"), file).unwrap();
    fs::write(&path, sections::file_header(3)).unwrap();
    let live = live_path(&path);
    std::os::unix::fs::symlink(directory.path().join("other"), &live).unwrap();
    check_path(
        &path,
        expect!["cannot open FILE.live: Too many levels of symbolic links (os error 40)"],
    );
    fs::remove_file(&live).unwrap();
    let name = std::ffi::CString::new(live.to_str().unwrap()).unwrap();
    // SAFETY: A plain call with a string that outlives it.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    check_path(
        &path,
        expect!["cannot open FILE.live: it is a pipe, a socket or a device, not a file"],
    );
}

/// ```text
/// link ── is checked ── now leads elsewhere ── is opened again
/// ```
#[test]
fn a_recording_is_not_created_through_a_link() {
    let (directory, path) = crate::in_directory("bug.reenact");
    let other = directory.path().join("thesis");
    fs::write(&other, "ten years").unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    let program = crate::script::program();
    let created =
        reenact_trace::Writer::create(&path, &program, reenact_trace::Storage::File, |_| ());
    assert!(created.is_err());
    assert_eq!(fs::read_to_string(&other).unwrap(), "ten years");
}
