//! The contents of the live file: counters, and chunks that are not yet in the trace file, or not known to be.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use crate::{
    catalog::Tail,
    error::{Damage, TraceError},
    layout::{
        CHUNK, CHUNK_HEADER, CHUNK_MAGIC, FORMAT_VERSION, LIVE_HEADER, LIVE_MAGIC, MAX_SLABS,
        OLDEST_VERSION, SLAB, SLOT, chunk, get_u32, live,
    },
    open::reopen,
    program::StopReason,
    writer::section_of_chunk,
};

use super::ChunkLocation;

const PAGE: usize = 4096;

pub(super) struct LivePart {
    pub(super) file: File,
    /// `None` if its header cannot be read.
    pub(super) version: Option<u32>,
    pub(super) chunks: Vec<ChunkLocation>,
    pub(super) tails: Vec<Tail>,
    pub(super) stop: Option<StopReason>,
    /// The first error in it.
    pub(super) damage: Option<Damage>,
}

impl LivePart {
    /// Reads the live file at `path`, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<LivePart>, TraceError> {
        let file = match reopen(path) {
            Ok(file) => file,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(TraceError::io("cannot open", path)(error)),
        };
        let mut live = LivePart {
            file,
            version: None,
            chunks: Vec::new(),
            tails: Vec::new(),
            stop: None,
            damage: None,
        };
        live.take_all()
            .map_err(TraceError::io("cannot read", path))?;
        Ok(Some(live))
    }

    fn take_all(&mut self) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        let mut header = [0; LIVE_HEADER];
        if size < LIVE_HEADER as u64 {
            self.damaged(size, "the live file is cut short");
            return Ok(());
        }
        self.file.read_exact_at(&mut header, 0)?;
        if header[..8] != LIVE_MAGIC {
            self.damaged(0, "the live file does not begin as one");
            return Ok(());
        }
        let version = get_u32(&header, live::VERSION);
        self.version = Some(version);
        if !(OLDEST_VERSION.into()..=FORMAT_VERSION.into()).contains(&version) {
            return Ok(());
        }
        let code = get_u32(&header, live::STOP);
        self.stop = StopReason::from_code(code, get_u32(&header, live::ERRNO));
        if code != 0 && self.stop.is_none() {
            let what = "the live file's mark of an early end is malformed";
            self.damaged(live::STOP as u64, what);
        }
        let kinds = &header[live::SLAB_KINDS..][..MAX_SLABS];
        let mut slab = vec![0; SLAB];
        for (index, &kind) in kinds.iter().take_while(|&&kind| kind != 0).enumerate() {
            let offset = (LIVE_HEADER + index * SLAB) as u64;
            if size < offset + SLAB as u64 {
                self.damaged(size, "the live file is cut short");
                break;
            }
            self.file.read_exact_at(&mut slab, offset)?;
            match kind {
                live::SLAB_CHUNKS => self.take_chunks(&slab, offset, version as u16),
                live::SLAB_SLOTS => self.take_slots(&slab),
                _ => self.damaged(offset, "a slab of an unknown kind is in the live file"),
            }
        }
        Ok(())
    }

    fn take_chunks(&mut self, slab: &[u8], slab_offset: u64, version: u16) {
        for (bytes, index) in slab.chunks_exact(CHUNK).zip(0..) {
            let offset = slab_offset + index * CHUNK as u64;
            match get_u32(bytes, chunk::STATE) {
                chunk::FREE => continue,
                chunk::IN_USE if get_u32(bytes, chunk::MAGIC) == CHUNK_MAGIC => {}
                _ => {
                    self.damaged(offset, "a chunk in the live file does not begin as one");
                    continue;
                }
            }
            let header = bytes[..CHUNK_HEADER].try_into().expect("a chunk's header");
            let mut section = section_of_chunk(header, version);
            section.length = get_u32(bytes, chunk::USED);
            if section.length as usize > CHUNK - CHUNK_HEADER {
                let what = "a chunk in the live file is longer than chunks can be";
                self.damaged(offset, what);
            } else {
                self.chunks.push(ChunkLocation {
                    in_live: true,
                    offset: offset + CHUNK_HEADER as u64,
                    section,
                });
            }
        }
    }

    fn take_slots(&mut self, slab: &[u8]) {
        // Most pages of a slab of slots were never used.
        let used = slab.chunks_exact(PAGE).filter(|page| *page != [0; PAGE]);
        for slot in used.flat_map(|page| page.chunks_exact(SLOT)) {
            if let Some(activity) = get_u32(slot, 8).checked_sub(1) {
                self.tails.push(Tail {
                    activity,
                    counter: get_u32(slot, 0),
                    hash: get_u32(slot, 4),
                });
            }
        }
    }

    fn damaged(&mut self, offset: u64, what: &'static str) {
        self.damage.get_or_insert(Damage { offset, what });
    }
}
