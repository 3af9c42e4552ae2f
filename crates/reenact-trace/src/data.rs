//! Data from outside: how they are cut into pieces and put together again.
//!
//! Events refer to data by an id. In chunks, and in the sections that recovery makes of them, there are pieces of data
//! one after the other, each with the id, how long all of the data are, and where in them the piece belongs; data that
//! do not fit in what is left of a chunk or section go on in another. The length of the whole is only a claim: nothing is
//! allocated for it before the bytes are there.

mod parts;

pub(crate) use parts::{Part, Parts};

use crate::entry::{Encoder, Malformed, take, take_number};

/// How many data a trace has, and how many bytes these are. The same bytes count once, however often they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataSummary {
    /// How many data.
    pub count: u64,
    /// How long they are together.
    pub bytes: u64,
}

/// What stands before a piece of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) id: u64,
    /// Length of the data that it is a piece of.
    pub(crate) total: u64,
    /// Where in the data it begins.
    pub(crate) offset: u64,
    pub(crate) length: usize,
}

/// No piece has a longer header than this: id, total, offset and the length, which is less than that of a section.
pub(crate) const MAX_HEADER: usize = 10 + 10 + 10 + 3;
/// Data are not cut to put less than this of them where room is left.
const MIN_PIECE: usize = 64;

/// Whether a piece of data, of which `left` bytes are left, is to be put where there is so much room.
pub(crate) fn piece_fits(room: usize, left: usize) -> bool {
    MAX_HEADER + left.min(MIN_PIECE) <= room
}

impl Piece {
    /// Puts the header at the beginning of a buffer; its length.
    pub(crate) fn put_header(&self, buffer: &mut [u8]) -> usize {
        let mut encoder = Encoder::new(buffer);
        encoder.number(self.id);
        encoder.number(self.total);
        encoder.number(self.offset);
        encoder.number(self.length as u64);
        encoder.used()
    }

    /// Takes a piece off the front of `bytes`.
    pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Result<(Piece, &'a [u8]), Malformed> {
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
        let piece = Piece {
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
            let piece = Piece {
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
                prop_assert!(Piece::take(&mut &bytes[..cut]).is_err());
            }
            let mut rest = &bytes[..];
            prop_assert_eq!(Piece::take(&mut rest), Ok((piece, &content[..])));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_are_pieces_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = &bytes[..];
            while !rest.is_empty() && Piece::take(&mut rest).is_ok() {}
        }
    }

    #[test]
    fn an_empty_piece_is_of_empty_data_only() {
        assert!(Piece::take(&mut &[7, 0, 0, 0][..]).is_ok());
        assert!(Piece::take(&mut &[7, 1, 0, 0][..]).is_err());
        assert!(Piece::take(&mut &[7, 1, 1, 1, 0][..]).is_err());
    }
}
