//! A section: the checked unit of which a trace file is a sequence.
//!
//! The header has a check of its own beside the checksum over everything: opening a trace believes headers without
//! reading what they stand before.

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
    /// A section of this kind that says nothing in its header.
    pub(crate) fn of(kind: u8) -> Section {
        Section {
            kind,
            ..Section::default()
        }
    }

    /// The bytes of this section, header and payload, ready to be appended.
    pub(crate) fn to_bytes(self, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SECTION_HEADER + payload.len());
        bytes.extend_from_slice(&self.header_for(payload));
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The header of this section if its payload is this one.
    pub(crate) fn header_for(mut self, payload: &[u8]) -> [u8; SECTION_HEADER] {
        self.length = u32::try_from(payload.len()).expect("sections are small");
        self.checksum = self.compute_checksum(payload);
        self.header()
    }

    /// The header, with its own check in it.
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

    /// Reads a header; says what is wrong if it is none.
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

    /// Whether this header and this payload are the ones that were written.
    pub(crate) fn verify(&self, payload: &[u8]) -> Result<(), &'static str> {
        if self.compute_checksum(payload) == self.checksum {
            Ok(())
        } else {
            Err("the checksum of a section is wrong")
        }
    }
}

/// Of a header in which the check itself is zero.
fn header_check(header: &[u8; SECTION_HEADER]) -> u16 {
    xxh3_64(header) as u16
}
