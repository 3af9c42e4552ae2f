//! A section of which only the beginning is in the file: what a kill of the writer leaves, or one of `recover`.

use std::{collections::BTreeMap, fs, path::Path};

use reenact_trace::{Kind, live_path, recover};

use crate::{
    reading::{Streams, assert_recovers_to, copy_as_after_a_kill, open, sound_streams, streams},
    script::{Speaker, event, long_event, writer},
    sections::boundaries,
};

/// Leaves a trace in two files: two activities and three chunks, one of them empty, all in the live file.
fn leave_two_files(path: &Path) -> Streams {
    let original = path.with_file_name("original.reenact");
    let writer = writer(&original);
    let mut first = writer.appender(0).unwrap();
    let mut second = writer.appender(1).unwrap();
    let mut one = Speaker::start(&writer, &mut first, 0);
    let mut two = Speaker::start(&writer, &mut second, 1);
    let unused = writer.appender(2).unwrap();
    for number in 0..5 {
        assert!(one.say(&mut first, long_event(number)));
    }
    assert!(two.say(&mut second, event(1, Kind::TAKE, 3)));
    assert!(one.say(&mut second, event(0, Kind::LOOK, 4)));
    one.be_silent(6);
    copy_as_after_a_kill(&original, path);
    drop((first, second, unused));
    BTreeMap::from([(0, one.expected()), (1, two.expected())])
}

/// `recover` appends sections in one go; here it is killed after every byte of them.
#[test]
fn a_killed_recover_can_be_repeated_from_any_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("torn.reenact");
    let expected = leave_two_files(&path);
    let live = fs::read(live_path(&path)).unwrap();
    let before = fs::metadata(&path).unwrap().len() as usize;
    recover(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in before..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        fs::write(live_path(&path), &live).unwrap();
        assert_recovers_to(&path, &expected);
        if cut == before {
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
    }
}

#[test]
fn a_chunk_that_is_in_neither_file_is_missed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lost.reenact");
    let expected = leave_two_files(&path);
    recover(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let boundaries = boundaries(&whole);
    // The program's section comes first, then chunks 0, 1 and 2, then the counters.
    for chunk in [1, 2] {
        let mut bytes = whole.clone();
        bytes.drain(boundaries[chunk]..boundaries[chunk + 1]);
        fs::write(&path, &bytes).unwrap();
        let trace = open(&path);
        let damage = trace.damage().expect("a chunk is missing").to_string();
        assert!(damage.starts_with("a chunk is missing"), "{damage}");
        for (activity, stream) in streams(&trace) {
            crate::reading::assert_prefix(&stream, &expected[&activity]);
        }
    }
}

#[test]
fn nothing_is_cut_off_a_file_that_is_damaged_before_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.reenact");
    leave_two_files(&path);
    let live = fs::read(live_path(&path)).unwrap();
    recover(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let second = boundaries(&bytes)[2];
    bytes[second] ^= 1;
    for with_live in [true, false] {
        fs::write(&path, &bytes).unwrap();
        if with_live {
            fs::write(live_path(&path), &live).unwrap();
            let error = recover(&path).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("no section begins at byte {second}")),
                "{error}"
            );
            fs::remove_file(live_path(&path)).unwrap();
        }
        let exit = reenact_trace::Exit::Status(0);
        reenact_trace::append_exit(&path, exit).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn an_exit_is_kept_whether_it_is_added_before_or_after_the_files_are_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("exit.reenact");
    let expected = leave_two_files(&path);
    let exit = reenact_trace::Exit::Status(3);
    reenact_trace::append_exit(&path, exit).unwrap();
    assert_eq!(open(&path).exit(), Some(exit));
    assert_recovers_to(&path, &expected);
    assert_eq!(open(&path).exit(), Some(exit));
    let exit = reenact_trace::Exit::Signal(9);
    reenact_trace::append_exit(&path, exit).unwrap();
    assert_eq!(open(&path).exit(), Some(exit));
    assert_eq!(sound_streams(&path), expected);
}
