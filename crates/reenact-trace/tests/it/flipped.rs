//! Bits that changed: on a disk, in memory, on the way.

use std::{fs, os::unix::fs::FileExt, path::Path, sync::Arc};

use reenact_trace::{Exit, Kind, Stop, Trace, TraceError, append_exit};

use crate::{
    reading::sound_streams,
    script::{Speaker, event, long_event, writer},
    sections::{CHUNK, boundaries, section},
};

/// A trace with a section of every kind, among them chunks with one activity, with several, and with nothing.
fn record(path: &Path) {
    let writer = writer(path);
    let mut appender = writer.appender(0).unwrap();
    let mut other = writer.appender(1).unwrap();
    let empty = writer.appender(2).unwrap();
    let mut one = Speaker::start(&writer, &mut appender, 0);
    let mut two = Speaker::start(&writer, &mut other, 1);
    for number in 0..5 {
        assert!(one.say(&mut appender, long_event(number)));
    }
    assert!(two.say(&mut other, event(2, Kind::LOOK, 1)));
    assert!(two.tick(&mut other));
    assert!(one.say(&mut other, event(0, Kind::CHOICE, 1)));
    assert!(two.end(&mut other));
    writer.stop(Stop::Asked);
    drop(empty);
    writer.clone().finish().unwrap();
    append_exit(path, Exit::Signal(6)).unwrap();

    // A chunk with one activity follows one that is full. Instead of filling one, it is put in by hand.
    let mut bytes = fs::read(path).unwrap();
    let stop = boundaries(&bytes)[4];
    let chunk = section(
        CHUNK,
        0,
        3,
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
fn every_flipped_bit_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flipped.reenact");
    record(&path);
    sound_streams(&path);
    let bytes = fs::read(&path).unwrap();
    let boundaries = boundaries(&bytes);
    // The program, four chunks, the stop, the counters, the exit.
    assert_eq!(boundaries.len(), 9);
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
