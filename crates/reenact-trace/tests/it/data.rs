//! Data from outside: what was stored is read, whoever stored it and wherever it lies, and the same bytes are stored once.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use proptest::{collection::vec, prelude::*};
use reenact_testing::generated;
use reenact_trace::{DataSummary, Trace, TraceError, Writer, live_path, recover};

use crate::{
    memory::peak_of,
    reading::{
        assert_recovers_to, copy_as_after_a_kill, is_grouped, open, recover_in_chunks,
        sound_streams, streams,
    },
    script::{Recorder, bytes, temporary, writer},
    sections::{self, CHUNK_HEADER, CHUNK_SIZE, DATA, ORDERED_DATA, boundaries},
};

/// How many bytes a chunk has room for.
const CAPACITY: usize = CHUNK_SIZE - CHUNK_HEADER;
/// How long the sections of a trace by activity are.
const SECTION: usize = 256 << 10;

type Data = BTreeMap<u64, Vec<u8>>;

fn assert_has(trace: &Trace, data: &Data) {
    for (&id, bytes) in data {
        let read = trace.data(id).unwrap_or_else(|error| panic!("{error}"));
        assert!(*read == bytes[..], "data {id} of {} bytes", bytes.len());
    }
    let summary = DataSummary {
        count: data.len() as u64,
        bytes: data.values().map(|bytes| bytes.len() as u64).sum(),
    };
    assert_eq!(trace.data_summary(), summary);
}

/// Asserts that a trace which is still being written has these data, in every form that it will have.
fn assert_kept(writer: Writer, data: &Data) {
    let path = writer.path().to_owned();
    let copy = path.with_file_name("copy.reenact");
    copy_as_after_a_kill(&path, &copy);
    assert_has(&open(&copy), data);
    recover_in_chunks(&copy);
    assert_has(&open(&copy), data);
    sound_streams(&copy);
    writer.finish().unwrap();
    assert_has(&open(&path), data);
    sound_streams(&path);
}

fn assert_no_data(trace: &Trace, id: u64) {
    match trace.data(id) {
        Err(TraceError::NoData { id: missed, .. }) => assert_eq!(missed, id),
        other => panic!("{other:?}"),
    }
}

#[test]
fn data_of_any_length_are_read_as_they_were_stored() {
    let directory = tempfile::tempdir().unwrap();
    let writer = writer(&directory.path().join("lengths.reenact"));
    let mut appender = writer.appender(0).unwrap();
    let around = |length: usize| length - 40..length + 3;
    let lengths = [0, 1, 2, 15, 16, 17, 127, 128, 1000]
        .into_iter()
        .chain(around(CAPACITY))
        .chain(around(2 * CAPACITY))
        .chain([SECTION - 40, SECTION - 1, SECTION, SECTION + 1, 3 << 20, 5]);
    let mut data = Data::new();
    for (length, seed) in lengths.zip(0..) {
        let bytes = bytes(length, seed);
        let id = appender.data(&bytes).unwrap();
        assert_eq!(data.insert(id, bytes), None);
    }
    drop(appender);
    assert_kept(writer, &data);
}

#[test]
fn notes_are_read_in_their_order_and_are_no_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.reenact");
    let writer = writer(&path);
    let mut appender = writer.appender(0).unwrap();
    let notes = [bytes(3, 0), bytes(2 * CAPACITY, 1), bytes(3, 0), Vec::new()];
    let mut data = Data::new();
    for (note, seed) in notes.iter().zip(2..) {
        writer.note(0, note);
        let bytes = bytes(1000, seed);
        data.insert(appender.data(&bytes).unwrap(), bytes);
    }
    drop(appender);
    let has_notes = |path: &Path| {
        let read = open(path).notes();
        assert!(
            read.iter()
                .map(|note| &note[..])
                .eq(notes.iter().map(|note| &note[..]))
        );
    };
    has_notes(&path);
    let copy = directory.path().join("killed.reenact");
    copy_as_after_a_kill(&path, &copy);
    recover(&copy).unwrap();
    has_notes(&copy);
    assert_kept(writer, &data);
    has_notes(&path);
}

proptest! {
    #![proptest_config(generated::config(16))]

    #[test]
    fn data_of_any_lengths_one_after_the_other_are_read(lengths in vec(prop_oneof![0..100usize, 0..CAPACITY + 100, 0..2 * SECTION], 0..20)) {
        let directory = tempfile::tempdir().unwrap();
        let writer = writer(&directory.path().join("lengths.reenact"));
        let mut appender = writer.appender(0).unwrap();
        let mut data = Data::new();
        for (length, seed) in lengths.into_iter().zip(0..) {
            let bytes = bytes(length, seed);
            data.insert(appender.data(&bytes).unwrap(), bytes);
        }
        drop(appender);
        assert_kept(writer, &data);
    }
}

/// ```text
/// thread 0…3, four lives each:   store one of its own ── store one that all have ── say both ── …
/// ```
#[test]
fn several_threads_store_data_at_once() {
    let (_directory, path, writer) = temporary();
    let next = AtomicU64::new(0);
    let expected: BTreeMap<_, _> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (writer, next) = (&writer, &next);
                scope.spawn(move || {
                    let mut expected = Vec::new();
                    for _ in 0..4 {
                        let mut appender = writer.appender(thread).unwrap();
                        let number = next.fetch_add(1, Ordering::Relaxed) as u32;
                        let mut recorder = Recorder::start(&mut appender, number);
                        for seed in 0..300 {
                            let own = u64::from(number) << 32 | seed;
                            let length = (seed * seed) as usize % 5000;
                            assert!(recorder.say_data(&mut appender, &bytes(length, own)));
                            assert!(recorder.say_data(&mut appender, &bytes(length, seed)));
                        }
                        expected.push((number, recorder.expected()));
                    }
                    expected
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    drop(writer);
    assert_recovers_to(&path, &expected);
}

#[test]
fn the_same_bytes_are_stored_once() {
    let (_directory, path, writer) = temporary();
    let mut one = writer.appender(0).unwrap();
    let mut other = writer.appender(1).unwrap();
    let contents: Vec<_> = (0..10).map(|seed| bytes(50_000, seed)).collect();
    let ids: Vec<_> = contents
        .iter()
        .map(|bytes| one.data(bytes).unwrap())
        .collect();
    for _ in 0..100 {
        for (bytes, id) in contents.iter().zip(&ids) {
            assert_eq!(other.data(bytes), Some(*id));
        }
    }
    drop((one, other));
    writer.finish().unwrap();
    let size = open(&path).size();
    assert!((500_000..510_000).contains(&size), "{size}");
    assert_has(&open(&path), &ids.into_iter().zip(contents).collect());
}

#[test]
fn an_id_that_was_not_given_is_none() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let ids: Vec<_> = (0..3)
        .map(|seed| appender.data(&bytes(200_000, seed)).unwrap())
        .collect();
    assert_ids(&path, &ids);
    drop(appender);
    writer.finish().unwrap();
    assert_ids(&path, &ids);
}

fn assert_ids(path: &Path, ids: &[u64]) {
    let trace = open(path);
    for id in ids {
        trace.data(*id).unwrap();
    }
    for id in (0..10).chain([u64::MAX]).filter(|id| !ids.contains(id)) {
        assert_no_data(&trace, id);
    }
    let error = trace.data(77).unwrap_err().to_string();
    assert!(
        error.ends_with("trace.reenact has no data with the id 77"),
        "{error}"
    );
}

#[test]
fn a_trace_without_data_has_none() {
    let (_directory, path) = crate::in_directory("none.reenact");
    writer(&path).finish().unwrap();
    let trace = open(&path);
    assert_eq!(trace.data_summary(), DataSummary::default());
    assert_no_data(&trace, 0);
}

/// Records data of three chunks and then some events.
fn record_long(path: &Path) -> (u64, Vec<u8>) {
    let writer = writer(path);
    let mut appender = writer.appender(0).unwrap();
    let mut recorder = Recorder::start(&mut appender, 0);
    let bytes = bytes(600_000, 1);
    let id = appender.data(&bytes).unwrap();
    assert!(recorder.say_data(&mut appender, b"something short that is behind it"));
    drop((appender, writer));
    (id, bytes)
}

/// As [`record_long`], and makes one file of it, in chunks or by activity; returns the kind of its sections of data too.
fn record_long_as(path: &Path, in_chunks: bool) -> (u64, Vec<u8>, u8) {
    let (id, bytes) = record_long(path);
    if in_chunks {
        recover_in_chunks(path);
        return (id, bytes, DATA);
    }
    assert!(recover(path).unwrap());
    (id, bytes, ORDERED_DATA)
}

#[test]
fn a_section_of_data_that_was_cut_out_is_missed() {
    let (_directory, path) = crate::in_directory("lost.reenact");
    for in_chunks in [true, false] {
        let (id, bytes, kind) = record_long_as(&path, in_chunks);
        assert_eq!(*open(&path).data(id).unwrap(), bytes[..]);
        let whole = fs::read(&path).unwrap();
        let kinds = sections::kinds(&whole);
        let boundaries = boundaries(&whole);
        let of_data: Vec<_> = (0..kinds.len()).filter(|&at| kinds[at] == kind).collect();
        // Of chunks the last one would not be missed; it has no number after it.
        let (last, before) = of_data.split_last().unwrap();
        let lost: Vec<_> = match in_chunks {
            true => before.to_vec(),
            false => [before, &[*last]].concat(),
        };
        assert!(lost.len() > 2);
        for section in lost {
            let mut bytes = whole.clone();
            bytes.drain(boundaries[section]..boundaries[section + 1]);
            fs::write(&path, &bytes).unwrap();
            let trace = open(&path);
            let damage = trace.damage().expect("a section is missing").to_string();
            assert!(damage.contains("is missing or repeated"), "{damage}");
            match trace.data(id) {
                Err(TraceError::BrokenData { id: broken, .. }) => assert_eq!(broken, id),
                other => panic!("{other:?}"),
            }
            // The others are there, or are missed.
            streams(&trace);
        }
    }
}

#[test]
fn changed_bytes_of_data_are_an_error_and_no_data() {
    let (_directory, path) = crate::in_directory("changed.reenact");
    for in_chunks in [true, false] {
        let (id, _, kind) = record_long_as(&path, in_chunks);
        let mut bytes = fs::read(&path).unwrap();
        let kinds = sections::kinds(&bytes);
        let section = kinds.iter().position(|&found| found == kind).unwrap();
        let begin = boundaries(&bytes)[section];
        bytes[begin + 1000] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let trace = open(&path);
        let error = trace.data(id).unwrap_err().to_string();
        let expected = format!(
            "{}: the data with the id {id} are not whole: ",
            path.display()
        );
        assert!(error.starts_with(&expected), "{error}");
        assert!(trace.check(|_| ()).is_err());
        // Data elsewhere are as good as before.
        if !in_chunks {
            let short = id + 1;
            assert_eq!(&trace.data(short).unwrap()[..9], b"something");
        }
    }
}

/// A kill right after data were stored finds them, and those before.
#[test]
fn data_are_in_the_files_when_their_id_is_known() {
    let (directory, path) = crate::in_directory("killed.reenact");
    let copy = directory.path().join("copy.reenact");
    let writer = writer(&path);
    let mut appenders: Vec<_> = (0..2)
        .map(|thread| writer.appender(thread).unwrap())
        .collect();
    let mut data = Data::new();
    for (length, seed) in [5, 16_000, 0, 300, 40_000, 17, CAPACITY, 7000, 7000, 7000]
        .into_iter()
        .zip(0..)
    {
        let bytes = bytes(length, seed);
        let appender = &mut appenders[seed as usize % 2];
        data.insert(appender.data(&bytes).unwrap(), bytes);
        copy_as_after_a_kill(&path, &copy);
        assert_has(&open(&copy), &data);
        assert!(recover(&copy).unwrap());
        assert_has(&open(&copy), &data);
    }
}

/// The process was killed while it stored data: what there is of them is no damage, and nobody refers to it.
#[test]
fn data_that_were_not_stored_to_their_end_are_not_there() {
    let (directory, path) = crate::in_directory("whole.reenact");
    let (id, _) = record_long(&path);
    let whole = fs::read(&path).unwrap();
    let boundaries = boundaries(&whole);
    let live = fs::read(live_path(&path)).unwrap();
    // The live file as it was when the first chunks had been handed over: they were written in the order of their numbers.
    let next = boundaries.len() as u64 - 2;
    let mut early = live.clone();
    for chunk in early[sections::LIVE_HEADER + sections::SLAB..].chunks_mut(CHUNK_SIZE) {
        let sequence = u64::from_le_bytes(chunk[8..16].try_into().unwrap());
        if chunk[4] == 1 && sequence > 0 {
            chunk[4] = 0;
        }
    }
    assert!(next > 3);
    let path = directory.path().join("early.reenact");
    fs::write(&path, &whole).unwrap();
    fs::write(live_path(&path), &early).unwrap();
    for _ in 0..2 {
        let trace = open(&path);
        assert_eq!(trace.damage(), None);
        assert_eq!(trace.data_summary(), DataSummary::default());
        assert!(trace.data(id).is_err());
        recover(&path).unwrap();
    }
    assert_no_data(&open(&path), id);
}

#[test]
fn data_are_read_by_many_threads_at_once() {
    let (_directory, path, writer) = temporary();
    let mut appender = writer.appender(0).unwrap();
    let data: Data = (0..3000)
        .map(|seed| {
            let bytes = bytes(seed as usize % 700, seed);
            (appender.data(&bytes).unwrap(), bytes)
        })
        .collect();
    drop(appender);
    writer.finish().unwrap();
    let trace: Arc<Trace> = open(&path);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_has(&trace, &data));
        }
    });
}

#[test]
fn recovering_and_opening_take_memory_for_how_many_data_there_are_and_not_for_how_long() {
    let (_directory, path) = crate::in_directory("long.reenact");
    for in_chunks in [true, false] {
        let writer = writer(&path);
        let mut appender = writer.appender(0).unwrap();
        for seed in 0..8 {
            appender.data(&bytes(2 << 20, seed)).unwrap();
        }
        drop((appender, writer));
        let in_the_way = path.with_added_extension("new");
        if in_chunks {
            fs::create_dir(&in_the_way).unwrap();
        }
        let peak = peak_of(|| {
            assert!(recover(&path).unwrap());
            assert_eq!(open(&path).data_summary().bytes, 16 << 20);
        });
        assert_eq!(is_grouped(&path), !in_chunks);
        let _ = fs::remove_dir(&in_the_way);
        // A slab, a buffer and a section.
        assert!(peak < 3 << 20, "{peak}");
    }
}
