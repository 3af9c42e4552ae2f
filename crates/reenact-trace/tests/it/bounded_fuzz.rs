//! The fuzzed property on some thousands of inputs, with a bound on the memory that reading takes.

use std::{fs, path::Path};

use proptest::{collection::vec, prelude::*, sample::Index};

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
    let chunk = (0..2u8, 0..4u32, 0..5u64, vec(entry, 0..30));
    vec(chunk, 0..5).prop_map(|chunks| {
        (0..)
            .zip(chunks)
            .flat_map(|(sequence, (flags, activity, position, entries))| {
                let payload = entries.concat();
                sections::section(
                    sections::CHUNK,
                    flags,
                    sequence,
                    activity,
                    position,
                    &payload,
                )
            })
            .collect()
    })
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
    let first = |section: (u8, u32, u64, Vec<u8>)| (section.0, 0, 0, section.3);
    (
        directory.clone().prop_map(first),
        streams.clone().prop_map(first),
        vec(prop_oneof![directory, streams], 0..3),
        any::<bool>(),
    )
        .prop_map(|(first, second, more, complete)| {
            let all = [vec![first, second], more].concat();
            let mut bytes: Vec<u8> = (0..)
                .zip(all)
                .flat_map(|(sequence, (kind, activity, position, payload))| {
                    sections::section(kind, 0, sequence, activity, position, &payload)
                })
                .collect();
            if complete {
                bytes.extend(sections::section(3, 0, 0, 0, 0, &[]));
            }
            bytes
        })
}

/// Patches where the live file has something: its header, the first slots, the heads of its first chunks.
fn patches() -> impl Strategy<Value = Vec<u8>> {
    const CHUNKS: u32 = ((sections::LIVE_HEADER + sections::SLAB) / 16) as u32;
    const NEXT: u32 = (sections::CHUNK_SIZE / 16) as u32;
    let place = prop_oneof![
        1 => 0..5u32,
        1 => 256..260u32,
        4 => (0..3u32, 0..7u32).prop_map(|(chunk, at)| CHUNKS + chunk * NEXT + at),
        1 => any::<u32>(),
    ];
    let bytes = prop_oneof![
        vec(prop_oneof![Just(0), Just(1), any::<u8>()], 1..9),
        // All of a header of a chunk.
        (0..3u8, 0..3u8, 0..3u8, 0..40u8).prop_map(|(sequence, activity, position, used)| {
            let mut header =
                sections::live_chunk(1, sequence.into(), activity.into(), position.into(), &[]);
            header[32] = used;
            header.truncate(48);
            header
        }),
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
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_bytes(input in vec(any::<u8>(), 0..400)) {
        check(&input);
    }

    #[test]
    fn any_sections(sections in chunks(), version_1: bool) {
        check(&[vec![1 | u8::from(version_1) << 2], sections].concat());
    }

    #[test]
    fn any_directories(sections in grouped()) {
        check(&[vec![1], sections].concat());
    }

    #[test]
    fn sound_traces_that_were_changed(
        (whole, sections) in proptest::sample::select(sound_traces()),
        changes in changes(),
        seal: bool,
    ) {
        let version_1 = seal && whole[8] == 1;
        let mut bytes = if seal { sections } else { whole };
        changes.iter().for_each(|change| apply(&mut bytes, change));
        bytes.insert(0, u8::from(version_1) << 2 | u8::from(seal));
        check(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_live_files(patches in patches(), version_1: bool) {
        check(&[vec![2 | u8::from(version_1) << 2], patches].concat());
    }

    #[test]
    fn any_live_files_beside_any_sections(sections in chunks(), patches in patches()) {
        let length = (sections.len() as u16).to_le_bytes().to_vec();
        check(&[vec![3], length, sections, patches].concat());
    }
}

/// Entries that are all switches between two activities: as many pieces as there can be.
#[test]
fn reading_many_pieces_is_no_more_work_than_reading_their_bytes() {
    let mut bytes = sections::file_header(2);
    bytes.extend(sections::program());
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
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pieces.reenact");
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
    let mut bytes = sections::file_header(2);
    bytes.extend(sections::program());
    bytes.extend(header);
    let peak = peak_of(|| any_bytes_are_read_or_refused(&[vec![0], bytes].concat()));
    assert!(peak < 1 << 20, "{peak}");
}
