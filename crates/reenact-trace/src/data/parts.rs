//! Where the pieces of data are in the chunks of a trace.

use std::{fs::File, io};

use super::{DataHeader, DataSummary};
use crate::{contents::ChunkLocation, error::Damage};

/// A piece of data in a chunk. There may be many, so it is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) id: u64,
    /// Offset of the piece in the data.
    pub(crate) offset: u64,
    /// Length of the whole data.
    pub(crate) total: u64,
    /// The index of the chunk in the order of sequence numbers, and the bytes in it.
    chunk: u32,
    from: u16,
    length: u16,
}

impl Part {
    /// Where in the data it ends.
    fn end(&self) -> u64 {
        self.offset + u64::from(self.length)
    }

    /// Returns the offset of the bytes in their file.
    fn place(&self, chunks: &[ChunkLocation]) -> u64 {
        chunks[self.chunk as usize].offset + u64::from(self.from)
    }

    /// Reads the bytes into a buffer. The chunk was verified when it was added.
    pub(crate) fn read(
        &self,
        chunks: &[ChunkLocation],
        file: &File,
        live: Option<&File>,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let from = u32::from(self.from);
        let range = from..from + u32::from(self.length);
        chunks[self.chunk as usize].read(file, live, range, buffer)
    }
}

/// All pieces of data in the chunks of a trace, ordered by data and offset.
#[derive(Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
}

impl Parts {
    /// Adds the pieces in a chunk, up to where it is malformed.
    pub(crate) fn add(
        &mut self,
        number: u32,
        chunk: &ChunkLocation,
        payload: &[u8],
    ) -> Result<(), Damage> {
        chunk.verify(payload)?;
        let mut rest = payload;
        while !rest.is_empty() {
            let at = payload.len() - rest.len();
            let (piece, content) = DataHeader::take(&mut rest).map_err(|what| Damage {
                offset: chunk.offset + at as u64,
                what,
            })?;
            self.parts.push(Part {
                id: piece.id,
                offset: piece.offset,
                total: piece.total,
                chunk: number,
                from: (payload.len() - rest.len() - content.len()) as u16,
                length: content.len() as u16,
            });
        }
        Ok(())
    }

    /// Sorts the pieces after all have been added; must be called before the methods below. Returns where two pieces
    /// contradict each other.
    pub(crate) fn index(&mut self, chunks: &[ChunkLocation]) -> Result<(), Damage> {
        self.parts.sort_unstable();
        let contradicts = |one: &Part, next: &Part| {
            one.id == next.id
                && (one.total != next.total || next.offset < one.end() || one.total == 0)
        };
        match self
            .parts
            .array_windows()
            .find(|[one, next]| contradicts(one, next))
        {
            None => Ok(()),
            Some([_, next]) => Err(Damage {
                offset: next.place(chunks),
                what: "a piece of data is twice there",
            }),
        }
    }

    /// Returns the pieces of these data; empty if there are no such data.
    pub(crate) fn find(&self, id: u64) -> &[Part] {
        let from = self.parts.partition_point(|part| part.id < id);
        let after = &self.parts[from..];
        &after[..after.partition_point(|part| part.id == id)]
    }

    /// Returns the pieces of all whole data. Others were being stored when the process was killed or recording stopped,
    /// and nothing refers to them; or part of them is lost.
    pub(crate) fn whole(&self) -> impl Iterator<Item = &[Part]> {
        self.parts
            .chunk_by(|one, next| one.id == next.id)
            .filter(|parts| missing_from(parts).is_none())
    }

    pub(crate) fn summary(&self) -> DataSummary {
        self.whole()
            .fold(DataSummary::default(), |sum, parts| DataSummary {
                count: sum.count + 1,
                bytes: sum.bytes + parts[0].total,
            })
    }

    /// Returns what is missing from data with these pieces; `None` if they are whole.
    pub(crate) fn hole(parts: &[Part], chunks: &[ChunkLocation]) -> Option<Damage> {
        let index = missing_from(parts)?;
        Some(match (parts.get(index), parts.last()) {
            (Some(part), _) => Damage {
                offset: part.place(chunks),
                what: "a piece is missing before the one",
            },
            (None, last) => Damage {
                offset: last.map_or(0, |last| last.place(chunks) + u64::from(last.length)),
                what: "a piece is missing after the one that ends",
            },
        })
    }
}

/// Returns the index of the first piece before which something is missing; the number of pieces if the end is.
fn missing_from(parts: &[Part]) -> Option<usize> {
    let mut end = 0;
    for (index, part) in parts.iter().enumerate() {
        if part.offset != end {
            return Some(index);
        }
        end = part.end();
    }
    let total = parts.first().map_or(0, |part| part.total);
    (end != total).then_some(parts.len())
}
