//! A section: the checksummed unit of a trace file.
//!
//! The header has a checksum of its own besides the one over everything, since opening a trace trusts headers without
//! reading the payloads.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::layout::{MAX_SECTION, SECTION_HEADER, SECTION_MAGIC, get_u16, get_u32, get_u64};

/// A section's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Section {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) length: u32,
    pub(crate) checksum: u32,
    pub(crate) sequence: u64,
    pub(crate) activity: u32,
    pub(crate) thread: u32,
    pub(crate) position: u64,
}

impl Section {
    /// Returns a section of this kind with all other fields 0.
    pub(crate) fn of(kind: u8) -> Section {
        Section {
            kind,
            ..Section::default()
        }
    }

    /// Returns the bytes of this section: header and payload.
    pub(crate) fn to_bytes(self, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SECTION_HEADER + payload.len());
        bytes.extend_from_slice(&self.header_for(payload));
        bytes.extend_from_slice(payload);
        bytes
    }

    /// Returns the header of this section for this payload.
    pub(crate) fn header_for(mut self, payload: &[u8]) -> [u8; SECTION_HEADER] {
        self.length = u32::try_from(payload.len()).expect("sections are small");
        self.checksum = self.compute_checksum(payload);
        self.header()
    }

    /// Returns the header, including its own checksum.
    fn header(&self) -> [u8; SECTION_HEADER] {
        let mut header = self.header_unchecked();
        let check = header_check(&header);
        header[6..8].copy_from_slice(&check.to_le_bytes());
        header
    }

    fn header_unchecked(&self) -> [u8; SECTION_HEADER] {
        let mut header = [0; SECTION_HEADER];
        header[0..4].copy_from_slice(&SECTION_MAGIC.to_le_bytes());
        header[4] = self.kind;
        header[5] = self.flags;
        header[8..12].copy_from_slice(&self.length.to_le_bytes());
        header[12..16].copy_from_slice(&self.checksum.to_le_bytes());
        header[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        header[24..28].copy_from_slice(&self.activity.to_le_bytes());
        header[28..32].copy_from_slice(&self.thread.to_le_bytes());
        header[32..40].copy_from_slice(&self.position.to_le_bytes());
        header
    }

    /// Decodes a header; returns what is wrong with it otherwise.
    pub(crate) fn parse(header: &[u8; SECTION_HEADER]) -> Result<Section, &'static str> {
        if get_u32(header, 0) != SECTION_MAGIC {
            return Err("no section begins");
        }
        let mut unchecked = *header;
        unchecked[6..8].fill(0);
        if get_u16(header, 6) != header_check(&unchecked) {
            return Err("the header of a section is damaged");
        }
        let section = Section {
            kind: header[4],
            flags: header[5],
            length: get_u32(header, 8),
            checksum: get_u32(header, 12),
            sequence: get_u64(header, 16),
            activity: get_u32(header, 24),
            thread: get_u32(header, 28),
            position: get_u64(header, 32),
        };
        if section.length as usize > MAX_SECTION {
            return Err("a section is longer than sections can be");
        }
        Ok(section)
    }

    fn compute_checksum(&self, payload: &[u8]) -> u32 {
        let mut hasher = Xxh3::new();
        hasher.update(
            &Section {
                checksum: 0,
                ..*self
            }
            .header_unchecked(),
        );
        hasher.update(payload);
        hasher.digest() as u32
    }

    /// Verifies the checksum of this header and this payload.
    pub(crate) fn verify(&self, payload: &[u8]) -> Result<(), &'static str> {
        if self.compute_checksum(payload) == self.checksum {
            Ok(())
        } else {
            Err("the checksum of a section is wrong")
        }
    }
}

/// Computes the checksum of a header, in which the checksum itself is zero.
fn header_check(header: &[u8; SECTION_HEADER]) -> u16 {
    xxh3_64(header) as u16
}
