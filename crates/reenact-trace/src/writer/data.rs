//! Storing external data, in chunks of their own, so that large data do not delay events.

use std::sync::atomic::Ordering;

use super::Shared;
use crate::{
    data::{DataHeader, MAX_HEADER, piece_fits},
    layout::FLAG_DATA,
    live::{ChunkHeader, ChunkPtr},
};

/// The chunk that an appender stores data in, if it has stored any.
#[derive(Default)]
pub(super) struct DataChunk {
    chunk: Option<ChunkPtr>,
    used: usize,
}

impl DataChunk {
    /// Stores the bytes, unless the trace already has the same; returns their id.
    pub(super) fn store(&mut self, shared: &Shared, thread: u32, bytes: &[u8]) -> Option<u64> {
        if shared.has_stopped() {
            return None;
        }
        let hash = shared.stored_data.hash(bytes);
        if let Some(id) = hash.and_then(|hash| shared.stored_data.find(hash)) {
            return Some(id);
        }
        let id = shared.data_id.fetch_add(1, Ordering::Relaxed);
        self.store_as(shared, thread, id, bytes)?;
        // Only now that all bytes are stored: from here on another thread's event may refer to them.
        if let Some(hash) = hash {
            shared.stored_data.add(hash, id);
        }
        Some(id)
    }

    /// Stores the bytes under this id, which is new.
    pub(super) fn store_as(
        &mut self,
        shared: &Shared,
        thread: u32,
        id: u64,
        bytes: &[u8],
    ) -> Option<()> {
        let mut stored = 0;
        loop {
            stored += self.store_piece(shared, thread, id, bytes, stored)?;
            if stored == bytes.len() {
                return Some(());
            }
        }
    }

    /// Stores as many of the bytes from `offset` on as there is room for; returns how many.
    fn store_piece(
        &mut self,
        shared: &Shared,
        thread: u32,
        id: u64,
        bytes: &[u8],
        offset: usize,
    ) -> Option<usize> {
        let left = bytes.len() - offset;
        let mut chunk = match self.chunk {
            Some(chunk) if piece_fits(ChunkPtr::CAPACITY - self.used, left) => chunk,
            _ => self.next_chunk(shared, thread, left)?,
        };
        let length = left.min(ChunkPtr::CAPACITY - self.used - MAX_HEADER);
        let piece = DataHeader {
            id,
            total: bytes.len() as u64,
            offset: offset as u64,
            length,
        };
        let rest = chunk.rest(self.used);
        let header = piece.put_header(rest);
        rest[header..][..length].copy_from_slice(&bytes[offset..][..length]);
        self.used += header + length;
        chunk.set_used(self.used);
        Some(length)
    }

    /// Returns a chunk with room for a piece of data of which `left` bytes are left: one that another thread has left,
    /// or a new one.
    #[cold]
    fn next_chunk(&mut self, shared: &Shared, thread: u32, left: usize) -> Option<ChunkPtr> {
        let begun = match self.chunk {
            None => shared.state().begun_data.pop(),
            Some(_) => None,
        };
        if let Some(begun) = begun {
            self.chunk = Some(begun);
            self.used = begun.used();
            if piece_fits(ChunkPtr::CAPACITY - self.used, left) {
                return Some(begun);
            }
        }
        let header = ChunkHeader {
            flags: FLAG_DATA,
            ..ChunkHeader::default()
        };
        let next = shared.free_chunk(thread, header)?;
        if let Some(full) = self.chunk.replace(next) {
            shared.submit(full);
        }
        self.used = 0;
        Some(next)
    }

    /// Leaves the chunk to the next thread that stores data.
    pub(super) fn leave(&mut self, shared: &Shared) {
        if let Some(chunk) = self.chunk.take() {
            shared.state().begun_data.push(chunk);
        }
    }
}
