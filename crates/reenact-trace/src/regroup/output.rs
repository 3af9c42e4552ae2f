//! The file that a trace is grouped into, until it replaces the trace.
//!
//! Streams grow in many places of it at once, so it is mapped. Its blocks are reserved before, as for the live file: a
//! full disk is an error and not a SIGBUS.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use memmap2::MmapMut;

use super::NotRegrouped;
use crate::{
    layout::{GROUPED_SECTION, SECTION_HEADER, kind},
    live::reserve,
    section::Section,
};

pub(super) struct RegroupedFile {
    /// The path of the trace.
    path: PathBuf,
    temporary: PathBuf,
    map: MmapMut,
    /// Offset of the first section of streams.
    begin: usize,
    /// Length of all streams.
    length: usize,
    /// Offset of the first section of data.
    data: usize,
}

/// Returns the path of the temporary file. The caller has the lock on the live file, so there are no concurrent users.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

impl RegroupedFile {
    /// Creates a file that begins with `before` and ends with `after`, with room in between for streams of `length`
    /// bytes, and for sections of data of `data` bytes.
    pub(super) fn create(
        path: &Path,
        before: &[u8],
        length: u64,
        data: u64,
        after: &[u8],
    ) -> io::Result<RegroupedFile> {
        // Follows symbolic links, so that the target is replaced and not the link.
        let path = fs::canonicalize(path)?;
        let temporary = temporary_path(&path);
        let _ = fs::remove_file(&temporary);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let sections = length.div_ceil(GROUPED_SECTION);
        let data_begin = before.len() + length + sections * SECTION_HEADER;
        let end = data_begin + usize::try_from(data).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let map = file
            .set_permissions(fs::metadata(&path)?.permissions())
            .and_then(|()| reserve(&file, 0, end + after.len()))
            .and_then(|()| {
                // SAFETY: We have just created the file, and no other process has a reason to change it.
                unsafe { MmapMut::map_mut(&file) }
            })
            .inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        let mut output = RegroupedFile {
            path,
            temporary,
            map,
            begin: before.len(),
            length,
            data: data_begin,
        };
        output.map[..before.len()].copy_from_slice(before);
        output.map[end..].copy_from_slice(after);
        Ok(output)
    }

    /// Writes bytes at an offset of the streams.
    pub(super) fn put(&mut self, place: u64, mut bytes: &[u8]) -> Result<(), NotRegrouped> {
        let mut place = place as usize;
        if place + bytes.len() > self.length {
            return Err(NotRegrouped);
        }
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(room_in_section(place)));
            let at = self.begin + place + (place / GROUPED_SECTION + 1) * SECTION_HEADER;
            self.map[at..][..part.len()].copy_from_slice(part);
            place += part.len();
            bytes = rest;
        }
        Ok(())
    }

    /// Writes bytes unchanged at an offset of the sections of data.
    pub(super) fn put_data(&mut self, place: usize, bytes: &[u8]) {
        self.map[self.data + place..][..bytes.len()].copy_from_slice(bytes);
    }

    /// Writes the headers of the sections of streams, the first with this sequence number, and replaces the trace.
    pub(super) fn finish(mut self, first: u64) -> io::Result<()> {
        let mut at = self.begin;
        for (place, sequence) in (0..self.length).step_by(GROUPED_SECTION).zip(first..) {
            let length = GROUPED_SECTION.min(self.length - place);
            let (header, rest) = self.map[at..].split_at_mut(SECTION_HEADER);
            let section = Section {
                sequence,
                position: place as u64,
                ..Section::of(kind::STREAMS)
            };
            header.copy_from_slice(&section.header_for(&rest[..length]));
            at += SECTION_HEADER + length;
        }
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for RegroupedFile {
    /// Removes the temporary file; after `finish` there is none.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

fn room_in_section(place: usize) -> usize {
    GROUPED_SECTION - place % GROUPED_SECTION
}
