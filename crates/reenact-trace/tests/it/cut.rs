//! Files that end early: a copy that was interrupted, a disk that was full elsewhere.
//!
//! Whatever is cut off, reading ends, gives how each activity began, and says that there was more. The one exception is
//! how the process ended: a trace to which nobody added that is a whole trace, so that cutting it off entirely is not
//! noticed.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
};

use reenact_trace::{Event, Kind, Trace, TraceError, live_path, recover};
use tempfile::TempDir;

use crate::{
    reading::{
        Streams, assert_prefix, assert_recovers_to, copy_as_after_a_kill, finish, open,
        sound_streams, streams,
    },
    script::{Recorder, bytes, event, long_event, writer},
    sections::{
        self, CHUNK, CHUNK_SIZE, DATA, DIRECTORY, LIVE_HEADER, ORDERED_DATA, SLAB, STREAMS,
        boundaries,
    },
};

/// Records three activities on three threads, between which one of them moves and another has data, and some that end
/// quietly or are idle; stops early.
fn record(path: &Path, much: u64) -> (reenact_trace::Writer, Vec<Recorder>) {
    let writer = writer(path);
    let mut appenders: Vec<_> = (0..3)
        .map(|thread| writer.appender(thread).unwrap())
        .collect();
    let mut recorders: Vec<_> = (0..3)
        .zip(&mut appenders)
        .map(|(number, appender)| Recorder::start(appender, number))
        .collect();
    for number in 0..much {
        assert!(recorders[1].say(&mut appenders[1], long_event(number)));
    }
    for length in [0, 3, 100, 10 * much as usize] {
        assert!(recorders[2].say_data(&mut appenders[2], &bytes(length, 1)));
    }
    for number in 0..6 {
        for thread in 0..3 {
            let kind = if number % 2 == 0 {
                Kind::TAKE
            } else {
                Kind::CHOICE
            };
            assert!(recorders[thread].say(&mut appenders[thread], event(1, kind, number)));
            assert!(recorders[0].say(
                &mut appenders[thread],
                event(0, Kind::TAKE_AFTER_LOOKS, 300)
            ));
        }
    }
    let children = Event {
        second: 9,
        ..event(0, Kind::CHILDREN, 10)
    };
    assert!(recorders[0].say(&mut appenders[0], children));
    for number in 10..18 {
        let mut child = Recorder::quiet(&mut appenders[number as usize % 3], number);
        child.be_silent(number / 14);
        if number < 16 {
            assert!(child.end_quietly(&mut appenders[0]));
        }
    }
    recorders[0].be_silent(5);
    assert!(recorders[1].tick(&mut appenders[2]));
    assert!(recorders[2].end(&mut appenders[2]));
    recorders[2].leave(&mut appenders[2]);
    writer.stop(reenact_trace::StopReason::Asked);
    (writer, recorders)
}

/// Opens a file that is known to be incomplete and reads all of it, in every way.
fn assert_incomplete(path: &Path, whole: &Streams) {
    let trace = match Trace::open(path) {
        Ok(trace) => std::sync::Arc::new(trace),
        Err(TraceError::NotATrace { .. } | TraceError::Damaged { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    assert!(!trace.is_complete());
    for (activity, stream) in streams(&trace) {
        assert_prefix(&stream, &whole[&activity]);
    }
    let check = trace.check(|_| ());
    assert!(check.is_err() || trace.damage().is_none());
}

fn cut_at(path: &Path, lengths: impl Iterator<Item = usize>, exit: usize, whole: &Streams) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    for length in lengths {
        file.set_len(length as u64).unwrap();
        if length == exit {
            assert_eq!(&sound_streams(path), whole);
            assert_eq!(open(path).exit(), None);
        } else {
            assert_incomplete(path, whole);
        }
    }
}

/// A trace that was recorded and made one file of, in chunks or by activity, and how its process ended.
fn record_whole(path: &Path, much: u64, in_chunks: bool) -> Streams {
    let (writer, _) = record(path, much);
    finish(writer, path, in_chunks, 0);
    sound_streams(path)
}

#[test]
fn a_trace_cut_at_every_byte_is_read_up_to_there() {
    let (_directory, path) = crate::in_directory("cut.reenact");
    for (in_chunks, kinds) in [
        (true, &[1, CHUNK, CHUNK, CHUNK, DATA, 4, 3, 5][..]),
        (false, &[1, DIRECTORY, STREAMS, ORDERED_DATA, 4, 3, 5]),
    ] {
        let whole = record_whole(&path, 0, in_chunks);
        assert_eq!(whole.len(), 3 + 8);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(sections::kinds(&bytes), kinds);
        let exit = boundaries(&bytes)[kinds.len() - 1];
        cut_at(&path, (0..bytes.len()).rev(), exit, &whole);
    }
}

#[test]
fn a_long_trace_in_chunks_cut_anywhere_is_read_up_to_there() {
    cut_anywhere(3000, true, 12);
}

#[test]
fn a_long_trace_by_activity_cut_anywhere_is_read_up_to_there() {
    cut_anywhere(30_000, false, 10);
}

fn cut_anywhere(much: u64, in_chunks: bool, sections: usize) {
    let (_directory, path) = crate::in_directory("cut.reenact");
    let whole = record_whole(&path, much, in_chunks);
    let bytes = fs::read(&path).unwrap();
    let boundaries = boundaries(&bytes);
    assert!(boundaries.len() > sections);
    let step = bytes.len() / 70;
    let mut lengths: Vec<_> = (0..bytes.len()).step_by(step).collect();
    lengths.extend(boundaries.iter().flat_map(|&at| at - 1..=at + 1));
    lengths.retain(|&length| length < bytes.len());
    lengths.sort();
    let exit = boundaries[boundaries.len() - 2];
    cut_at(&path, lengths.into_iter().rev(), exit, &whole);
}

/// A trace in two files, as a kill leaves them.
fn record_and_kill(much: u64) -> (TempDir, PathBuf, Vec<Recorder>) {
    let (directory, original) = crate::in_directory("original.reenact");
    let (_writer, recorders) = record(&original, much);
    let path = directory.path().join("killed.reenact");
    copy_as_after_a_kill(&original, &path);
    (directory, path, recorders)
}

/// Every byte of the header page, of the first slots and of the chunks' beginnings, and one in each page of the rest.
#[test]
fn a_live_file_cut_anywhere_is_read_up_to_there_and_not_thrown_away() {
    let (_directory, path, recorders) = record_and_kill(0);
    let whole = sound_streams(&path);
    assert_eq!(whole[&0], recorders[0].expected());

    let bytes = fs::read(live_path(&path)).unwrap();
    assert_eq!(bytes.len(), LIVE_HEADER + 2 * SLAB);
    let mut lengths: Vec<_> = (0..LIVE_HEADER + 80).collect();
    let chunks = LIVE_HEADER + SLAB;
    for chunk in (chunks..bytes.len()).step_by(CHUNK_SIZE).take(4) {
        lengths.extend((chunk - 1..chunk + 300).step_by(13));
    }
    lengths.extend((LIVE_HEADER..bytes.len()).step_by(4096 * 7));
    lengths.push(bytes.len() - 1);
    lengths.sort();
    let trace = fs::read(&path).unwrap();
    let live = OpenOptions::new()
        .write(true)
        .open(live_path(&path))
        .unwrap();
    for length in lengths.into_iter().rev() {
        live.set_len(length as u64).unwrap();
        assert_incomplete(&path, &whole);
        if length % 64 < 2 {
            assert!(matches!(recover(&path), Err(TraceError::Damaged { .. })));
            assert_eq!(live.metadata().unwrap().len(), length as u64);
            assert_eq!(fs::read(&path).unwrap(), trace);
        }
    }
    fs::write(live_path(&path), &bytes).unwrap();
    assert_recovers_to(&path, &whole);
}

/// The live file was not copied along, or is gone.
#[test]
fn a_trace_without_its_live_file_is_not_complete() {
    let (_directory, path, _) = record_and_kill(3000);
    let whole = sound_streams(&path);
    fs::remove_file(live_path(&path)).unwrap();
    assert_incomplete(&path, &whole);
}
