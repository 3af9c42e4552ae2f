//! The fuzzed property on some thousands of inputs, with a bound on the memory that reading takes.

use std::{fs, path::Path};

use proptest::{collection::vec, prelude::*, sample::Index};
use reenact_testing::generated;

use crate::{
    any_bytes::{Files, any_bytes_are_read_or_refused},
    memory::{peak_of, total_of},
    reading, sections,
};

/// Runs the property and asserts that its memory is bounded by the size of the input: some for a slab, and some per
/// byte. The worst are activities of two bytes each, for which there is a list of pieces and a list of items.
fn check(input: &[u8]) {
    let size = Files::of(input).size();
    let peak = peak_of(|| any_bytes_are_read_or_refused(input));
    let bound = (4 << 20) + 400 * size;
    assert!(peak <= bound, "{peak} bytes of memory to read {size}");
}

/// Changes that files suffer.
#[derive(Debug, Clone)]
enum Change {
    Set(Index, u8),
    Cut(Index),
    Remove(Index, Index),
    Repeat(Index, Index),
    Insert(Index, Vec<u8>),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let index = any::<Index>;
    let change = prop_oneof![
        6 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => index().prop_map(Change::Cut),
        1 => (index(), index()).prop_map(|(from, to)| Change::Remove(from, to)),
        1 => (index(), index()).prop_map(|(from, to)| Change::Repeat(from, to)),
        1 => (index(), vec(any::<u8>(), 1..30)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
    ];
    vec(change, 1..6)
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let at = |index: &Index| index.index(bytes.len());
    let range = |one: &Index, other: &Index| {
        let (one, other) = (at(one), at(other));
        one.min(other)..one.max(other)
    };
    match change {
        Change::Set(index, byte) => {
            let at = at(index);
            bytes[at] = *byte;
        }
        Change::Cut(index) => {
            let at = at(index);
            bytes.truncate(at);
        }
        Change::Remove(one, other) => drop(bytes.drain(range(one, other))),
        Change::Repeat(one, other) => bytes.extend_from_within(range(one, other)),
        Change::Insert(index, more) => {
            let at = at(index);
            bytes.splice(at..at, more.iter().copied());
        }
    }
}

/// Traces that are sound, from the golden files: as they are, and without header and program.
fn sound_traces() -> Vec<(Vec<u8>, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    [
        "v1/everything.reenact",
        "v1/moved.reenact",
        "v2/everything.reenact",
        "v2/chunks.reenact",
        "v2/actors.reenact",
        "v3/everything.reenact",
        "v3/chunks.reenact",
        "v3/actors.reenact",
    ]
    .map(|name| {
        let bytes = fs::read(directory.join(name)).unwrap();
        let sections = bytes[sections::boundaries(&bytes)[1]..].to_vec();
        (bytes, sections)
    })
    .into()
}

/// Payloads that are mostly entries, and say where they belong.
fn chunks() -> impl Strategy<Value = Vec<u8>> {
    let entry = prop_oneof![
        4 => (0x80..=0xffu8).prop_map(|byte| vec![byte]),
        2 => (1..0x64u8, vec(0..=0x7fu8, 2..6)).prop_map(|(kind, rest)| [vec![kind], rest].concat()),
        2 => (0..4u8, 0..5u8).prop_map(|(activity, position)| vec![0x60, activity, position]),
        1 => (0..6u8, 0..3u8).prop_map(|(origin, index)| vec![0x61, origin, index, 0]),
        1 => (0..3u8, 0..3u8).prop_map(|(high, low)| vec![0x70 | high, low]),
        1 => (0..4u8, 0..5u8, 1..3u8).prop_map(|(activity, position, still)| vec![0x64, activity, position, still]),
        1 => (0..9u8, 0..2u8, 0..3u8).prop_map(|(first, operations, count)| vec![0x65, first, operations, 1, 2, 3, 4, count, 0]),
        1 => (0..9u8, 0..9u8).prop_map(|(first, count)| vec![0x43, 0, first, count]),
        1 => vec(any::<u8>(), 1..5),
    ];
    let chunk = (
        Just(sections::CHUNK),
        0..2u8,
        0..4u32,
        0..5u64,
        vec(entry, 0..30),
    );
    let data = (
        Just(sections::DATA),
        Just(0),
        Just(0),
        Just(0),
        vec(pieces(), 0..10),
    );
    vec(prop_oneof![2 => chunk, 1 => data], 0..5).prop_map(|chunks| {
        (0..)
            .zip(chunks)
            .flat_map(|(sequence, (kind, flags, activity, position, payload))| {
                let payload = payload.concat();
                sections::section(kind, flags, sequence, activity, position, &payload)
            })
            .collect()
    })
}

/// What is mostly a piece of data.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = (0..4u8, 0..4u8, 0..4u8, 0..4usize);
    prop_oneof![
        4 => piece.clone().prop_map(|(id, before, after, length)| {
            let total = before + length as u8 + after % 2;
            [vec![id, total, before, length as u8], vec![b'x'; length]].concat()
        }),
        2 => piece.prop_map(|(id, ..)| vec![id, 1, 0, 1, b'y']),
        // So long as nothing is.
        1 => (0..4u8).prop_map(|id| [vec![id], vec![0xff; 9], vec![1, 0, 1, b'z']].concat()),
        1 => vec(any::<u8>(), 1..5),
    ]
}

/// Directories that are mostly entries, and streams that are mostly items.
fn grouped() -> impl Strategy<Value = Vec<u8>> {
    let last = || (0..5u8, 0..2u8).prop_map(|(number, hash)| vec![number, hash, 0, 0, 0]);
    let activities = prop_oneof![
        (0..3u8, 0..9u8).prop_map(|(skip, length)| vec![0x20, skip, length]),
        (0..3u8, last(), 0..9u8).prop_map(|(skip, last, length)| [
            vec![0x24, skip],
            last,
            vec![length]
        ]
        .concat()),
        (0..3u8, 0..5u8, last())
            .prop_map(|(skip, count, last)| [vec![0x12, skip, count], last].concat()),
        (0..3u8, 0..5u8, last())
            .prop_map(|(skip, count, last)| [vec![0x14, skip, count], last].concat()),
        (0..3u8, 0..6u8, 0..3u8)
            .prop_map(|(skip, origin, index)| vec![0x08, skip, origin, index, 0]),
        (0..9u8, 0..9u8, 0..5u8)
            .prop_map(|(parent, first, count)| vec![0x01, parent, first, count]),
        vec(any::<u8>(), 1..5),
    ];
    let directory =
        (0..9u32, 0..9u64, vec(activities, 0..20)).prop_map(|(activity, position, entries)| {
            (sections::DIRECTORY, activity, position, entries.concat())
        });
    let streams = (
        0..9u64,
        vec(prop_oneof![0x80..=0xffu8, 0x20..0x3fu8, any::<u8>()], 0..30),
    )
        .prop_map(|(position, bytes)| (sections::STREAMS, 0, position, bytes));
    let data = (0..9u32, 0..4u64, vec(pieces(), 0..5))
        .prop_map(|(begun, first, pieces)| (sections::ORDERED_DATA, begun, first, pieces.concat()));
    let first = |section: (u8, u32, u64, Vec<u8>)| (section.0, 0, 0, section.3);
    (
        directory.clone().prop_map(first),
        streams.clone().prop_map(first),
        vec(prop_oneof![directory, streams, data], 0..4),
        any::<bool>(),
    )
        .prop_map(|(first, second, more, complete)| {
            let all = [vec![first, second], more].concat();
            let count = all.len() as u64;
            let mut bytes: Vec<u8> = (0..)
                .zip(all)
                .flat_map(|(sequence, (kind, activity, position, payload))| {
                    let mut section =
                        sections::section(kind, 0, sequence, activity, position, &payload);
                    if kind == sections::ORDERED_DATA {
                        make_true(&mut section);
                    }
                    section
                })
                .collect();
            if complete {
                bytes.extend(sections::section(3, 0, count, 0, 0, &[]));
            }
            bytes
        })
}

/// Has the header of a section of data say what is in it, if all numbers there are short: otherwise nobody would look at
/// the rest.
fn make_true(section: &mut [u8]) {
    let (mut begun, mut bytes, mut at) = (0u32, 0u32, sections::HEADER);
    while let Some([_, _, offset, length]) = section.get(at..at + 4) {
        begun += u32::from(*offset == 0);
        bytes += u32::from(*length);
        at += 4 + usize::from(*length);
    }
    if begun.is_multiple_of(2) {
        section[24..28].copy_from_slice(&begun.to_le_bytes());
        section[28..32].copy_from_slice(&bytes.to_le_bytes());
        if let Some(&first) = section.get(sections::HEADER) {
            section[32] = first;
        }
        sections::seal(section);
    }
}

/// Patches where the live file has something: its header, the first slots, the heads of its first chunks.
fn patches() -> impl Strategy<Value = Vec<u8>> {
    const CHUNKS: u32 = ((sections::LIVE_HEADER + sections::SLAB) / 16) as u32;
    const NEXT: u32 = (sections::CHUNK_SIZE / 16) as u32;
    let place = prop_oneof![
        1 => 0..5u32,
        1 => 256..260u32,
        4 => (0..4u32, 0..7u32).prop_map(|(chunk, at)| CHUNKS + chunk * NEXT + at),
        1 => any::<u32>(),
    ];
    let bytes = prop_oneof![
        vec(prop_oneof![Just(0), Just(1), any::<u8>()], 1..9),
        // All of a header of a chunk.
        (0..4u8, 0..4u8, 0..3u8, 0..3u8, 0..40u8).prop_map(
            |(flags, sequence, activity, position, used)| {
                let mut header = sections::live_chunk(
                    flags,
                    sequence.into(),
                    activity.into(),
                    position.into(),
                    &[],
                );
                header[32] = used;
                header.truncate(48);
                header
            }
        ),
    ];
    vec((place, bytes), 0..5).prop_map(|patches| {
        patches
            .into_iter()
            .flat_map(|(place, bytes)| {
                let [a, b, c, _] = place.to_le_bytes();
                [vec![a, b, c, bytes.len() as u8], bytes].concat()
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(generated::config(1500))]

    #[test]
    fn any_bytes(input in vec(any::<u8>(), 0..400)) {
        check(&input);
    }

    #[test]
    fn any_sections(sections in chunks(), version in 0..3u8) {
        check(&[vec![1 | version << 2], sections].concat());
    }

    #[test]
    fn any_directories(sections in grouped(), version in prop_oneof![Just(0), Just(2u8)]) {
        check(&[vec![1 | version << 2], sections].concat());
    }

    #[test]
    fn sound_traces_that_were_changed(
        (whole, sections) in proptest::sample::select(sound_traces()),
        changes in changes(),
        seal: bool,
    ) {
        let version = if seal { whole[8] % 3 } else { 0 };
        let mut bytes = if seal { sections } else { whole };
        changes.iter().for_each(|change| apply(&mut bytes, change));
        bytes.insert(0, version << 2 | u8::from(seal));
        check(&bytes);
    }
}

proptest! {
    #![proptest_config(generated::config(400))]

    #[test]
    fn any_live_files(patches in patches(), version in 0..3u8) {
        check(&[vec![2 | version << 2], patches].concat());
    }

    #[test]
    fn any_live_files_beside_any_sections(sections in chunks(), patches in patches(), version in 0..3u8) {
        check_beside_live_file(version, sections, patches);
    }
}

fn check_beside_live_file(version: u8, sections: Vec<u8>, patches: Vec<u8>) {
    let length = (sections.len() as u16).to_le_bytes().to_vec();
    check(&[vec![3 | version << 2], length, sections, patches].concat());
}

/// An event and a start, in a chunk that says it has no start, before a chunk that is whole. Readers of chunks do not look for
/// the start, and so recovery must not take it for one either.
#[test]
fn a_start_in_a_chunk_that_says_it_has_none_names_nobody_after_recovery() {
    let with_start = [0x80, 0x61, 0, 0, 0];
    let sections = [
        sections::section(sections::CHUNK, 0, 0, 0, 0, &with_start),
        sections::section(sections::CHUNK, 0, 1, 0, 0, &[]),
    ];
    check_beside_live_file(0, sections.concat(), Vec::new());
}

/// A reading of a clock in a trace of a version that had none: damage to readers, and so to recovery.
#[test]
fn an_entry_of_a_later_version_is_damage_after_recovery_too() {
    let reading = [0x60, 0, 0, 0x61, 0, 0, 0, 0x66, 1, 0x81];
    let sections = [
        sections::section(sections::CHUNK, 1, 0, 0, 0, &reading),
        sections::section(sections::CHUNK, 0, 1, 0, 0, &[]),
    ];
    check_beside_live_file(2, sections.concat(), Vec::new());
}

/// Entries that are all switches between two activities: as many pieces as there can be.
#[test]
fn reading_many_pieces_is_no_more_work_than_reading_their_bytes() {
    let mut bytes = sections::file_header(3);
    bytes.extend(sections::program(3));
    let mut position = 0u16;
    for sequence in 0..10 {
        let mut payload = Vec::new();
        while payload.len() < 16_000 {
            for activity in 0..2 {
                // A switch, with a position of 14 bits, and an event.
                let [low, high] = [position as u8 | 0x80, (position >> 7) as u8];
                payload.extend([0x60, activity, low, high, 0x81]);
            }
            position += 1;
        }
        let section = sections::section(sections::CHUNK, 1, sequence, 0, 0, &payload);
        bytes.extend(section);
    }
    let (_directory, path) = crate::in_directory("pieces.reenact");
    fs::write(&path, &bytes).unwrap();
    let mut items = 0;
    let total = total_of(|| {
        let trace = reading::open(&path);
        trace.check(|progress| items += progress).unwrap();
    });
    assert_eq!(items, 2 * (u64::from(position) + 1));
    // A list of pieces that doubles as it grows is the most of it; a chunk for every piece would be 3000 times.
    assert!(total < 300 * bytes.len(), "{total} for {}", bytes.len());
}

/// A section may say that it is long; nobody allocates that much because of it.
#[test]
fn a_length_that_is_a_lie_takes_no_memory() {
    let mut header = sections::section(3, 0, 0, 0, 0, &[]);
    header[8..12].copy_from_slice(&(1u32 << 29).to_le_bytes());
    sections::seal(&mut header);
    let mut bytes = sections::file_header(3);
    bytes.extend(sections::program(3));
    bytes.extend(header);
    let peak = peak_of(|| any_bytes_are_read_or_refused(&[vec![0], bytes].concat()));
    assert!(peak < 1 << 20, "{peak}");
}

/// Nor because data say that they are.
#[test]
fn data_that_are_said_to_be_long_take_no_memory() {
    let piece = [&[0][..], &[0xff; 9], &[1, 0, 1, b'x']].concat();
    let in_chunks = sections::section(sections::DATA, 0, 0, 0, 0, &piece);
    let mut in_order = sections::section(sections::ORDERED_DATA, 0, 1, 1, 0, &piece);
    in_order[28] = 1;
    sections::seal(&mut in_order);
    let directory = sections::section(sections::DIRECTORY, 0, 0, 0, 0, &[]);
    for data in [in_chunks, [directory, in_order].concat()] {
        let mut bytes = sections::file_header(3);
        bytes.extend(sections::program(3));
        bytes.extend(data);
        let peak = peak_of(|| any_bytes_are_read_or_refused(&[vec![0], bytes].concat()));
        assert!(peak < 1 << 20, "{peak}");
    }
}

/// Pieces of data that are as short as they can be.
#[test]
fn reading_many_data_is_no_more_work_than_reading_their_bytes() {
    let mut bytes = sections::file_header(3);
    bytes.extend(sections::program(3));
    for sequence in 0..10 {
        // All of them empty.
        let payload: Vec<u8> = (0..3000u16)
            .flat_map(|n| {
                let id = 3000 * sequence as u16 + n;
                [
                    id as u8 | 0x80,
                    (id >> 7) as u8 | 0x80,
                    (id >> 14) as u8,
                    0,
                    0,
                    0,
                ]
            })
            .take(16_000 / 6 * 6)
            .collect();
        bytes.extend(sections::section(
            sections::DATA,
            0,
            sequence,
            0,
            0,
            &payload,
        ));
    }
    let (_directory, path) = crate::in_directory("data.reenact");
    fs::write(&path, &bytes).unwrap();
    let total = total_of(|| {
        let trace = reading::open(&path);
        trace.check(|_| ()).unwrap();
        for id in 0..2000 {
            assert!(trace.data(id).unwrap().is_empty());
        }
        assert_eq!(trace.data_summary().count, 10 * 2666);
    });
    assert!(total < 30 * bytes.len(), "{total} for {}", bytes.len());
}
