//! Sizes, magic numbers and field offsets: the only place in code that knows the layout of both files.
//!
//! `docs/trace-format.md` describes the same in prose. All numbers are little-endian.

/// The version of the format that this library writes. It reads all versions from 1 on.
pub const FORMAT_VERSION: u16 = 3;
/// The oldest version that this library reads.
pub(crate) const OLDEST_VERSION: u16 = 1;

/// After this many silent operations in a row, the recorder appends a [`Tick`](crate::Item::Tick), so that a replay
/// finds a divergence soon even if no events occur.
pub const MAX_SILENT: u32 = 1 << 16;

/// First bytes of a trace file.
pub(crate) const FILE_MAGIC: [u8; 8] = *b"REENACT\n";
/// Length of the file header: magic, version (u16), reserved (6 bytes, zero).
pub(crate) const FILE_HEADER: usize = 16;

/// First bytes of every section of a trace file.
pub(crate) const SECTION_MAGIC: u32 = u32::from_le_bytes(*b"RSec");
/// Length of a section's header.
pub(crate) const SECTION_HEADER: usize = 40;
/// Maximum length of a section: the tails of all the slots that a live file has room for. A larger length is damage,
/// not a reason to allocate.
pub(crate) const MAX_SECTION: usize = 1 << 30;

/// The kinds of sections.
pub(crate) mod kind {
    pub(crate) const PROGRAM: u8 = 1;
    pub(crate) const CHUNK: u8 = 2;
    pub(crate) const TAILS: u8 = 3;
    pub(crate) const STOP: u8 = 4;
    pub(crate) const EXIT: u8 = 5;
    pub(crate) const STREAMS: u8 = 6;
    pub(crate) const DIRECTORY: u8 = 7;
    pub(crate) const DATA: u8 = 8;
    pub(crate) const ORDERED_DATA: u8 = 9;
}

/// Length of a section of streams, except the last one. Sections of data are a little shorter; those of the directory
/// end soon after it. Long enough that headers do not matter, short enough to be verified as a whole when something in
/// it is first read.
pub(crate) const GROUPED_SECTION: usize = 256 << 10;
/// Maximum length of a section of streams, of data in order or of the directory.
pub(crate) const MAX_GROUPED_SECTION: usize = 1 << 20;

/// Section and chunk flag: the payload contains switches, starts, runs of ends or numbers for children besides plain
/// events, so that a reader must decode it to know which activities it is about.
pub(crate) const FLAG_STRUCTURED: u8 = 1;
/// Chunk flag: the chunk contains data and no entries. In the trace file, the kind of the section says so.
pub(crate) const FLAG_DATA: u8 = 2;

/// The first ids of notes and of variables, which are stored like data. No event refers to them.
pub(crate) const FIRST_NOTE: u64 = 1 << 63;
pub(crate) const FIRST_VARIABLE: u64 = 3 << 62;

/// First bytes of a live file.
pub(crate) const LIVE_MAGIC: [u8; 8] = *b"RNCTLIVE";
/// The live file's header: one page.
pub(crate) const LIVE_HEADER: usize = 4096;
/// A live file grows by slabs of this size; each contains only chunks or only slots.
pub(crate) const SLAB: usize = 1 << 20;
/// Maximum number of slabs of a live file: their kinds are a byte each in the header page.
pub(crate) const MAX_SLABS: usize = 1024;

/// Offsets in the live file's header.
pub(crate) mod live {
    pub(crate) const VERSION: usize = 8;
    /// Why recording ended early (u32, 0 = it has not) and the system's error number (u32).
    pub(crate) const STOP: usize = 16;
    pub(crate) const ERRNO: usize = 20;
    /// One byte per slab, 0 where there is none.
    pub(crate) const SLAB_KINDS: usize = 64;
    pub(crate) const SLAB_CHUNKS: u8 = 1;
    pub(crate) const SLAB_SLOTS: u8 = 2;
}

/// Size of a chunk, to which one OS thread appends.
pub(crate) const CHUNK: usize = 16 << 10;
/// Length of a chunk's header.
pub(crate) const CHUNK_HEADER: usize = 64;
/// First bytes of a chunk in the live file.
pub(crate) const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"RChk");
/// Chunks in a slab.
pub(crate) const CHUNKS_PER_SLAB: usize = SLAB / CHUNK;

/// Offsets in a chunk's header.
pub(crate) mod chunk {
    pub(crate) const MAGIC: usize = 0;
    /// [`FREE`] or [`IN_USE`] (u32).
    pub(crate) const STATE: usize = 4;
    pub(crate) const SEQUENCE: usize = 8;
    pub(crate) const ACTIVITY: usize = 16;
    pub(crate) const THREAD: usize = 20;
    pub(crate) const POSITION: usize = 24;
    /// Bytes of payload that are valid (u32): the cursor.
    pub(crate) const USED: usize = 32;
    pub(crate) const FLAGS: usize = 36;

    pub(crate) const FREE: u32 = 0;
    pub(crate) const IN_USE: u32 = 1;
}

/// A slot: the operation counter and hash of one live activity (u64), its number plus one (u32), reserved (u32).
pub(crate) const SLOT: usize = 16;
/// Slots in a slab.
pub(crate) const SLOTS_PER_SLAB: usize = SLAB / SLOT;
/// Length of one entry of a tails section: activity (u32), counter (u32), hash (u32).
pub(crate) const TAIL: usize = 12;

pub(crate) fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

pub(crate) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(crate) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
