//! Bits that changed: on a disk, in memory, on the way.

use std::{fs, os::unix::fs::FileExt, path::Path, sync::Arc};

use reenact_trace::{Event, Exit, Kind, StopReason, Trace, TraceError, append_exit};

use crate::{
    reading::{recover_in_chunks, sound_streams},
    script::{Recorder, event, long_event, writer},
    sections::{self, CHUNK, DATA, DIRECTORY, ORDERED_DATA, STREAMS, boundaries, section},
};

/// A trace with a section of every kind, in chunks or by activity. Among the chunks are some with one activity, with
/// several, and with nothing.
fn record(path: &Path, in_chunks: bool) {
    let writer = writer(path);
    let mut appender = writer.appender(0).unwrap();
    let mut other = writer.appender(1).unwrap();
    let empty = writer.appender(2).unwrap();
    let mut one = Recorder::start(&mut appender, 0);
    let mut two = Recorder::start(&mut other, 1);
    for number in 0..5 {
        assert!(one.say(&mut appender, long_event(number)));
    }
    assert!(two.say(&mut other, event(2, Kind::LOOK, 1)));
    assert!(two.tick(&mut other));
    for data in [&b"from outside"[..], b"", &[7; 100]] {
        assert!(two.say_data(&mut other, data));
    }
    assert!(one.say(&mut other, event(0, Kind::CHOICE, 1)));
    let children = Event {
        second: 5,
        ..event(0, Kind::CHILDREN, 10)
    };
    assert!(two.say(&mut other, children));
    for number in 10..14 {
        let mut child = Recorder::quiet(&mut other, number);
        if number < 13 {
            assert!(child.end_quietly(&mut other));
        }
    }
    assert!(two.end(&mut other));
    writer.stop(StopReason::Asked);
    drop((appender, other, empty));
    if !in_chunks {
        writer.finish().unwrap();
        append_exit(path, Exit::Signal(6)).unwrap();
        return;
    }
    drop(writer);
    recover_in_chunks(path);
    append_exit(path, Exit::Signal(6)).unwrap();

    // A chunk with one activity follows one that is full. Instead of filling one, it is put in by hand.
    let mut bytes = fs::read(path).unwrap();
    let stop = boundaries(&bytes)[5];
    let chunk = section(
        CHUNK,
        0,
        4,
        0,
        one.position(),
        &[0x81, 0x92, 0x06, 0, 0x80, 0x02],
    );
    bytes.splice(stop..stop, chunk);
    fs::write(path, bytes).unwrap();
}

/// How a change was noticed.
enum Noticed {
    OnOpening,
    OnChecking,
    Never,
}

fn look_at(path: &Path) -> Noticed {
    match Trace::open(path) {
        Err(
            TraceError::NotATrace { .. } | TraceError::Version { .. } | TraceError::Damaged { .. },
        ) => Noticed::OnOpening,
        Err(error) => panic!("{error}"),
        Ok(trace) if trace.damage().is_some() => Noticed::OnOpening,
        Ok(trace) => match Arc::new(trace).check(|_| ()) {
            Err(TraceError::Damaged { .. }) => Noticed::OnChecking,
            Err(error) => panic!("{error}"),
            Ok(()) => Noticed::Never,
        },
    }
}

#[test]
fn every_flipped_bit_of_a_trace_in_chunks_is_noticed() {
    flip_every_bit(true, &[1, CHUNK, CHUNK, CHUNK, DATA, CHUNK, 4, 3, 5]);
}

#[test]
fn every_flipped_bit_of_a_trace_by_activity_is_noticed() {
    flip_every_bit(false, &[1, DIRECTORY, STREAMS, ORDERED_DATA, 4, 3, 5]);
}

fn flip_every_bit(in_chunks: bool, kinds: &[u8]) {
    let (_directory, path) = crate::in_directory("flipped.reenact");
    record(&path, in_chunks);
    assert_eq!(sound_streams(&path).len(), 6);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(sections::kinds(&bytes), kinds);
    let boundaries = boundaries(&bytes);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    for at in 0..bytes.len() {
        // Whom a chunk belongs to is known from its header, so opening must not believe a wrong one.
        let in_header = boundaries
            .iter()
            .any(|&begin| (begin..begin + 40).contains(&at));
        for bit in 0..8 {
            file.write_all_at(&[bytes[at] ^ 1 << bit], at as u64)
                .unwrap();
            // No byte is reserved in the sense that it may be anything.
            match look_at(&path) {
                Noticed::Never => panic!("bit {bit} of byte {at}"),
                Noticed::OnChecking if in_header => panic!("bit {bit} of byte {at}, too late"),
                _ => {}
            }
        }
        file.write_all_at(&bytes[at..=at], at as u64).unwrap();
    }
    assert!(matches!(look_at(&path), Noticed::Never));
}
