//! External data: how they are divided into pieces and assembled again.
//!
//! Events refer to data by an id. Chunks of data, and the sections that recovery makes of them, consist of pieces of
//! data, each with the id, the length of the whole data, and the offset of the piece in them; data that do not fit in
//! the rest of a chunk or section continue in another. The length of the whole is not trusted: nothing is allocated for
//! it before the bytes are there.

mod parts;

pub(crate) use parts::{Part, Parts};

use crate::entry::{EntryEncoder, Malformed, take, take_number};

/// The number and total length of the data in a trace. Equal bytes count once, however often they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataSummary {
    /// How many data there are.
    pub count: u64,
    /// Their total length in bytes.
    pub bytes: u64,
}

/// The header of a piece of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataHeader {
    pub(crate) id: u64,
    /// Length of the whole data.
    pub(crate) total: u64,
    /// Offset of the piece in the data.
    pub(crate) offset: u64,
    pub(crate) length: usize,
}

/// Maximum length of the header of a piece: id, total, offset and the length, which is less than that of a section.
pub(crate) const MAX_HEADER: usize = 10 + 10 + 10 + 3;
/// Minimum length of a piece, unless less than this is left of the data.
const MIN_PIECE: usize = 64;

/// Whether a piece of data of which `left` bytes are left should be put where there are `room` bytes.
pub(crate) fn piece_fits(room: usize, left: usize) -> bool {
    MAX_HEADER + left.min(MIN_PIECE) <= room
}

impl DataHeader {
    /// Writes the header to the beginning of a buffer; returns its length.
    pub(crate) fn put_header(&self, buffer: &mut [u8]) -> usize {
        let mut encoder = EntryEncoder::new(buffer);
        encoder.number(self.id);
        encoder.number(self.total);
        encoder.number(self.offset);
        encoder.number(self.length as u64);
        encoder.used()
    }

    /// Decodes a piece from the front of `bytes`.
    pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Result<(DataHeader, &'a [u8]), Malformed> {
        let id = take_number(bytes)?;
        let total = take_number(bytes)?;
        let offset = take_number(bytes)?;
        let length = take_number(bytes)?;
        let is_within = offset.checked_add(length).is_some_and(|end| end <= total);
        if !is_within || length == 0 && total > 0 {
            return Err("a piece of data is not within the data");
        }
        let length = usize::try_from(length).map_err(|_| CUT)?;
        let content = take(bytes, length).map_err(|_| CUT)?;
        let piece = DataHeader {
            id,
            total,
            offset,
            length,
        };
        Ok((piece, content))
    }
}

const CUT: Malformed = "a piece of data is cut short";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reenact_testing::generated;

    use super::*;

    proptest! {
        #![proptest_config(generated::config(256))]

        #[test]
        fn pieces_are_taken_as_they_were_put(id: u64, offset in 0..1u64 << 40, after in 0..1u64 << 40, content in proptest::collection::vec(any::<u8>(), 1..50)) {
            let piece = DataHeader {
                id,
                total: offset + content.len() as u64 + after,
                offset,
                length: content.len(),
            };
            let mut bytes = vec![0; MAX_HEADER];
            let header = piece.put_header(&mut bytes);
            bytes.truncate(header);
            bytes.extend_from_slice(&content);
            for cut in 0..bytes.len() {
                prop_assert!(DataHeader::take(&mut &bytes[..cut]).is_err());
            }
            let mut rest = &bytes[..];
            prop_assert_eq!(DataHeader::take(&mut rest), Ok((piece, &content[..])));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_pieces_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && DataHeader::take(&mut rest).is_ok() {}
        }
    }

    #[test]
    fn an_empty_piece_is_of_empty_data_only() {
        assert!(DataHeader::take(&mut &[7, 0, 0, 0][..]).is_ok());
        assert!(DataHeader::take(&mut &[7, 1, 0, 0][..]).is_err());
        assert!(DataHeader::take(&mut &[7, 1, 1, 1, 0][..]).is_err());
    }
}
