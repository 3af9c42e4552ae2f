//! The bytes of both files, made by hand from `docs/trace-format.md`: a second opinion on the layout, and the way past
//! the checksums for tests that have something wrong to say.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

pub(crate) const HEADER: usize = 40;
pub(crate) const FILE_HEADER: usize = 16;

pub(crate) const PROGRAM: u8 = 1;
pub(crate) const CHUNK: u8 = 2;
pub(crate) const STREAMS: u8 = 6;
pub(crate) const DIRECTORY: u8 = 7;
pub(crate) const DATA: u8 = 8;
pub(crate) const ORDERED_DATA: u8 = 9;

pub(crate) const LIVE_HEADER: usize = 4096;
pub(crate) const SLAB: usize = 1 << 20;
pub(crate) const CHUNK_SIZE: usize = 16 << 10;
pub(crate) const CHUNK_HEADER: usize = 64;

/// The header of a trace file.
pub(crate) fn file_header(version: u16) -> Vec<u8> {
    let mut bytes = b"REENACT\n".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.resize(FILE_HEADER, 0);
    bytes
}

/// A section whose header has these fields and whose checks are right.
pub(crate) fn section(
    kind: u8,
    flags: u8,
    sequence: u64,
    activity: u32,
    position: u64,
    payload: &[u8],
) -> Vec<u8> {
    let mut bytes = b"RSec".to_vec();
    bytes.extend([kind, flags, 0, 0]);
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(beginning(sequence, activity, position));
    bytes.extend(payload);
    seal(&mut bytes);
    bytes
}

/// The fields that the headers of sections and of chunks share: what comes first, on which thread 0.
fn beginning(sequence: u64, activity: u32, position: u64) -> Vec<u8> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.extend(activity.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(position.to_le_bytes());
    bytes
}

/// Makes both checks of a section right.
pub(crate) fn seal(section: &mut [u8]) {
    section[6..8].fill(0);
    section[12..16].fill(0);
    let mut hasher = Xxh3::new();
    hasher.update(section);
    let checksum = hasher.digest() as u32;
    section[12..16].copy_from_slice(&checksum.to_le_bytes());
    let check = xxh3_64(&section[..HEADER]) as u16;
    section[6..8].copy_from_slice(&check.to_le_bytes());
}

/// A section that names a program without arguments or environment, in a trace of this version.
pub(crate) fn program(version: u16) -> Vec<u8> {
    let mut payload = Vec::new();
    for text in ["/bin/app", "/tmp"] {
        payload.extend((text.len() as u32).to_le_bytes());
        payload.extend(text.as_bytes());
    }
    payload.extend([0; 8 + 4 + 4]);
    if version > 2 {
        payload.extend([0; 4]);
    }
    section(PROGRAM, 0, 0, 0, 0, &payload)
}

/// Where the sections of a trace begin, and where the last one ends.
pub(crate) fn boundaries(trace: &[u8]) -> Vec<usize> {
    let mut at = FILE_HEADER;
    let mut all = vec![at];
    while let Some(length) = trace.get(at + 8..at + 12) {
        at += HEADER + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        all.push(at);
    }
    assert_eq!(at, trace.len(), "a whole trace ends with a section");
    all
}

/// The kinds of the sections of a trace.
pub(crate) fn kinds(trace: &[u8]) -> Vec<u8> {
    let boundaries = boundaries(trace);
    let (_, begins) = boundaries.split_last().unwrap();
    begins.iter().map(|&at| trace[at + 4]).collect()
}

/// The header page of a live file with slabs of these kinds: 1 for chunks, 2 for slots.
pub(crate) fn live_header(version: u32, slabs: &[u8]) -> Vec<u8> {
    let mut bytes = b"RNCTLIVE".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.resize(64, 0);
    bytes.extend(slabs);
    bytes.resize(LIVE_HEADER, 0);
    bytes
}

/// The beginning of a chunk in a live file.
pub(crate) fn live_chunk(
    flags: u8,
    sequence: u64,
    activity: u32,
    position: u64,
    payload: &[u8],
) -> Vec<u8> {
    let mut bytes = b"RChk".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(beginning(sequence, activity, position));
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(u32::from(flags).to_le_bytes());
    bytes.resize(CHUNK_HEADER, 0);
    bytes.extend(payload);
    bytes
}
