//! Sorting data by their ids.
//!
//! As for the streams, this takes two passes: one to compute the length of the sections, and one to fill them. In both,
//! the same [`Cutter`] decides where data are divided.

use std::io;

use super::{NotRegrouped, output::RegroupedFile};
use crate::{
    contents::Contents,
    data::{DataHeader, MAX_HEADER, Part, Parts, piece_fits},
    layout::{GROUPED_SECTION, SECTION_HEADER, kind},
    section::Section,
};

/// The data of a trace in chunks, and how long their sections will be.
pub(super) struct UnorderedData {
    parts: Parts,
    pub(super) sections: u64,
    /// Length of all sections, including their headers.
    pub(super) length: u64,
}

impl UnorderedData {
    pub(super) fn survey(contents: &Contents) -> Result<UnorderedData, NotRegrouped> {
        let mut parts = Parts::default();
        let mut payload = Vec::new();
        for (chunk, number) in contents.chunks.iter().zip(0u32..) {
            if chunk.is_data() {
                let whole = 0..chunk.section.length;
                chunk.read(&contents.file, contents.live.as_ref(), whole, &mut payload)?;
                parts
                    .add(number, chunk, &payload)
                    .map_err(|_| NotRegrouped)?;
            }
        }
        parts.index(&contents.chunks).map_err(|_| NotRegrouped)?;
        let mut cutter = Cutter::default();
        let mut length = 0;
        for data in parts.whole() {
            cutter.cut(data[0].id, data[0].total, |cut| {
                length += (cut.header.len() + cut.piece.length) as u64;
                Ok(())
            })?;
        }
        Ok(UnorderedData {
            parts,
            sections: cutter.sections,
            length: length + cutter.sections * SECTION_HEADER as u64,
        })
    }

    /// Fills the sections, of which the first has this sequence number.
    pub(super) fn place(
        &self,
        contents: &Contents,
        output: &mut RegroupedFile,
        first: u64,
    ) -> io::Result<()> {
        let mut cutter = Cutter::default();
        let mut current = UnfinishedSection {
            section: Section {
                sequence: first,
                ..Section::of(kind::ORDERED_DATA)
            },
            payload: Vec::with_capacity(GROUPED_SECTION),
            written: 0,
        };
        for data in self.parts.whole() {
            let mut source = ChunkedBytes {
                contents,
                parts: data.iter(),
                buffer: Vec::new(),
                read: 0,
            };
            cutter.cut(data[0].id, data[0].total, |cut| {
                if cut.begins_section {
                    current.end(output);
                }
                current.begin_piece(&cut);
                source.read(cut.piece.length, &mut current.payload)
            })?;
        }
        current.end(output);
        Ok(())
    }
}

/// Decides where data are divided so that each piece fits in a section.
#[derive(Default)]
struct Cutter {
    sections: u64,
    /// Room in the last section.
    room: usize,
}

struct Cut<'a> {
    piece: DataHeader,
    header: &'a [u8],
    begins_section: bool,
}

impl Cutter {
    /// Divides data into pieces.
    fn cut(
        &mut self,
        id: u64,
        total: u64,
        mut each: impl FnMut(Cut<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut offset = 0;
        loop {
            let left = usize::try_from(total - offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
            let begins_section = !piece_fits(self.room, left);
            if begins_section {
                self.sections += 1;
                self.room = GROUPED_SECTION;
            }
            let piece = DataHeader {
                id,
                total,
                offset,
                length: left.min(self.room - MAX_HEADER),
            };
            let mut header = [0; MAX_HEADER];
            let header_length = piece.put_header(&mut header);
            each(Cut {
                piece,
                header: &header[..header_length],
                begins_section,
            })?;
            self.room -= header_length + piece.length;
            offset += piece.length as u64;
            if offset == total {
                return Ok(());
            }
        }
    }
}

/// The section that is being filled.
struct UnfinishedSection {
    section: Section,
    payload: Vec<u8>,
    /// Length of the sections before it.
    written: usize,
}

impl UnfinishedSection {
    fn begin_piece(&mut self, cut: &Cut<'_>) {
        if self.payload.is_empty() {
            self.section.position = cut.piece.id;
        }
        if cut.piece.offset == 0 {
            self.section.activity += 1;
        }
        self.section.thread += cut.piece.length as u32;
        self.payload.extend_from_slice(cut.header);
    }

    /// Writes the section to the file, unless it is empty, and begins the next.
    fn end(&mut self, output: &mut RegroupedFile) {
        if self.payload.is_empty() {
            return;
        }
        output.put_data(self.written, &self.section.header_for(&self.payload));
        output.put_data(self.written + SECTION_HEADER, &self.payload);
        self.written += SECTION_HEADER + self.payload.len();
        self.payload.clear();
        self.section = Section {
            sequence: self.section.sequence + 1,
            ..Section::of(kind::ORDERED_DATA)
        };
    }
}

/// Reads the bytes of data, from chunk to chunk.
struct ChunkedBytes<'a> {
    contents: &'a Contents,
    parts: std::slice::Iter<'a, Part>,
    buffer: Vec<u8>,
    read: usize,
}

impl ChunkedBytes<'_> {
    /// Appends the next `length` bytes.
    fn read(&mut self, mut length: usize, to: &mut Vec<u8>) -> io::Result<()> {
        let Contents {
            chunks, file, live, ..
        } = self.contents;
        while length > 0 {
            if self.read == self.buffer.len() {
                let part = self.parts.next().ok_or(io::ErrorKind::UnexpectedEof)?;
                part.read(chunks, file, live.as_ref(), &mut self.buffer)?;
                self.read = 0;
            }
            let there = &self.buffer[self.read..];
            let taken = &there[..length.min(there.len())];
            to.extend_from_slice(taken);
            self.read += taken.len();
            length -= taken.len();
        }
        Ok(())
    }
}
