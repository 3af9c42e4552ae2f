//! The property that is fuzzed: whatever bytes the files have, they are read or refused.
//!
//! Nothing panics, reading comes to an end after no more items than there are bytes, and making one file of two changes
//! nothing that could be read. The fuzz target in `fuzz/` includes this file; `bounded_fuzz.rs` runs it in the tests.
//!
//! # Input
//!
//! Checksums would keep a fuzzer at the door, so the first byte says what is made of the rest:
//!
//! | first byte mod 4 | the rest is, in the version that the next two bits of it say, 3 if these are none |
//! |---|---|
//! | 0 | a trace file |
//! | 1 | the sections of a trace file, of which the program is given; their magic and checks are made right |
//! | 2 | patches to the live file of a small trace: offset / 16 (u24), length (u8), bytes |
//! | 3 | as 2, and before them a length (u16) and so many bytes for the trace file, as in 1 |

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::Path,
    sync::Arc,
};

use reenact_trace::{Item, Trace, TraceError, live_path, recover};

use crate::sections::{self, HEADER, LIVE_HEADER, SLAB};

/// Bytes of the files that an input stands for.
pub(crate) struct Files {
    trace: Vec<u8>,
    live: Option<Vec<(u64, Vec<u8>)>>,
}

/// The size of the live files, with a slab of slots and one of chunks.
const LIVE: usize = LIVE_HEADER + 2 * SLAB;

impl Files {
    pub(crate) fn of(input: &[u8]) -> Files {
        let Some((mode, rest)) = input.split_first() else {
            return Files {
                trace: Vec::new(),
                live: None,
            };
        };
        let version = match mode >> 2 & 3 {
            older @ 1..=2 => older.into(),
            _ => 3,
        };
        match mode % 4 {
            0 => Files {
                trace: rest.to_vec(),
                live: None,
            },
            1 => Files {
                trace: sealed(version, rest),
                live: None,
            },
            2 => Files {
                trace: sealed(version, &[]),
                live: Some(live(version, rest)),
            },
            _ => {
                let length = rest
                    .first_chunk()
                    .map_or(0, |length| u16::from_le_bytes(*length).into());
                let rest = rest.get(2..).unwrap_or_default();
                let (trace, rest) = rest.split_at(rest.len().min(length));
                Files {
                    trace: sealed(version, trace),
                    live: Some(live(version, rest)),
                }
            }
        }
    }

    /// How many bytes there are to read. The zeros of a live file are no work to make, but they are to read.
    pub(crate) fn size(&self) -> usize {
        self.trace.len() + self.live.as_ref().map_or(0, |_| LIVE)
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, &self.trace)?;
        if let Some(patches) = &self.live {
            let file = File::create(live_path(path))?;
            file.set_len(LIVE as u64)?;
            for (offset, bytes) in patches {
                file.write_all_at(bytes, *offset)?;
            }
        }
        Ok(())
    }
}

/// A trace file of these sections, with everything right that a reader checks before it looks at them.
fn sealed(version: u16, mut bytes: &[u8]) -> Vec<u8> {
    let mut trace = sections::file_header(version);
    trace.extend(sections::program(version));
    while bytes.len() >= HEADER {
        let length = u32::from_le_bytes(*bytes[8..].first_chunk().expect("a header is longer"));
        let length = (length as usize).min(bytes.len() - HEADER);
        let (section, rest) = bytes.split_at(HEADER + length);
        let mut section = section.to_vec();
        section[..4].copy_from_slice(b"RSec");
        section[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        sections::seal(&mut section);
        trace.extend(section);
        bytes = rest;
    }
    trace.extend(bytes);
    trace
}

/// The live file of a small trace, with patches.
fn live(version: u16, mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let slots = LIVE_HEADER as u64;
    let chunks = (LIVE_HEADER + SLAB) as u64;
    // Activity 0 starts, takes, and has counted more; activity 1 goes on in a chunk of its own.
    let first = [
        0x60, 0, 0, 0x61, 0, 0, 0, 0x81, 0x92, 0x60, 1, 0, 0x61, 2, 0, 1, b'b', 0xc3,
    ];
    let mut patches = vec![
        (0, sections::live_header(version.into(), &[2, 1])),
        (
            slots,
            [&[5, 0, 0, 0, 7, 7, 7, 7, 1, 0, 0, 0][..], &[0; 4]].concat(),
        ),
        (chunks, sections::live_chunk(1, 0, 0, 0, &first)),
        (
            chunks + sections::CHUNK_SIZE as u64,
            sections::live_chunk(0, 1, 1, 1, &[0x81, 0x62, 0, 1, 2, 3, 4]),
        ),
    ];
    // Data 0, and the beginning of data 1. In older versions there are none, and a chunk is missing after those.
    if version > 2 {
        let data = [0, 3, 0, 3, b'a', b'b', b'c', 1, 9, 0, 2, b'd', b'e'];
        let place = chunks + 2 * sections::CHUNK_SIZE as u64;
        patches.push((place, sections::live_chunk(2, 2, 0, 0, &data)));
    }
    while let [a, b, c, length, rest @ ..] = bytes {
        let offset = u64::from(u32::from_le_bytes([*a, *b, *c, 0])) * 16 % LIVE as u64;
        let (patch, rest) = rest.split_at(rest.len().min((*length).into()));
        let room = (LIVE as u64 - offset) as usize;
        patches.push((offset, patch[..patch.len().min(room)].to_vec()));
        bytes = rest;
    }
    patches
}

/// What can be read: for every activity its items and whether they end with an error, then what there is besides.
type Survey = (Vec<(u32, Vec<Item>, bool)>, String);

fn survey(path: &Path, size: usize) -> Result<Survey, TraceError> {
    let trace = Arc::new(Trace::open(path)?);
    let mut entries = 0;
    let _ = trace.check(|progress| entries += progress);
    // Every entry has a byte at least, and every activity one for its cut.
    assert!(
        entries as usize <= 2 * size,
        "{entries} entries in {size} bytes"
    );

    let mut streams = Vec::new();
    let mut items = 0;
    // A run of some bytes may stand for any number of activities that are all alike.
    let some = trace.activities().take(size);
    for info in some {
        let mut stream = Vec::new();
        let mut failed = false;
        for item in trace.events(info.number) {
            assert!(!failed, "an error is the last item in a stream");
            match item {
                Ok(item) => stream.push(item),
                Err(_) => failed = true,
            }
            items += 1;
            assert!(items <= 4 * size, "{items} items in {size} bytes");
        }
        assert!(failed || matches!(stream.last(), Some(Item::Cut { .. })));
        streams.push((info.number, stream, failed));
    }
    let family: Vec<_> = trace
        .activities()
        .take(10)
        .map(|info| (trace.family_name(info.number), info))
        .collect();
    let mut bytes = 0;
    let data: Vec<_> = (0..20)
        .map(|id| match trace.data(id) {
            Ok(data) => {
                bytes += data.len();
                Some(data)
            }
            Err(TraceError::NoData { .. } | TraceError::BrokenData { .. }) => None,
            Err(error) => panic!("{error}"),
        })
        .collect();
    assert!(bytes <= size, "{bytes} bytes of data in {size}");
    let besides = format!(
        "{:?} {:?} {:?} {} {} {family:?} {:?} {data:?}",
        trace.program(),
        trace.exit(),
        trace.stop(),
        trace.is_complete(),
        trace.activities().len(),
        trace.data_summary(),
    );
    Ok((streams, besides))
}

/// Reads what the input stands for, makes one file of it if that can be, and reads again.
pub(crate) fn any_bytes_are_read_or_refused(input: &[u8]) {
    let files = Files::of(input);
    let directory = tempfile::tempdir().expect("a place for files");
    let path = directory.path().join("any.reenact");
    files.write(&path).expect("room for files");

    let before = survey(&path, files.size());
    match recover(&path) {
        Ok(true) => {
            assert!(!live_path(&path).exists());
            let before = before.expect("what is recovered can be read");
            let after = survey(&path, 2 * files.size()).expect("what was recovered can be read");
            assert_eq!(before, after);
        }
        Ok(false) => assert!(!live_path(&path).exists()),
        // As readable as before.
        Err(_) => assert_eq!(before.ok(), survey(&path, files.size()).ok()),
    }
}
