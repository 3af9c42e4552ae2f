//! The position of an activity in the trace, which its writer keeps and a reader reconstructs.

/// How far an activity is, and where it last wrote. It moves with the activity from thread to thread, and every
/// [`Appender`](crate::Appender) that it writes to updates it. The default is for an activity that has written nothing.
///
/// # Invariants
///
/// 1. No two items of an activity begin at the same position and `still`, so these two order its items wherever they
///    are.
/// 2. If `chunk` names the chunk that an appender owns, then that chunk contains the activity's last bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TracePosition {
    /// How many operations its items stand for.
    position: u64,
    /// In the lower 48 bits, the sequence number of the chunk that it last wrote to, plus one; 0 for none. In the upper
    /// bits, `still`: how many of its last items stood for no operation, so that the position did not change.
    chunk: u64,
}

const CHUNK_BITS: u32 = 48;

impl TracePosition {
    /// Returns how many operations of the activity the items written so far stand for.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn still(&self) -> u16 {
        (self.chunk >> CHUNK_BITS) as u16
    }

    /// Whether the activity has written nothing.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.chunk == 0
    }

    /// Whether the activity's last bytes are in the chunk with this sequence number.
    #[inline]
    pub(crate) fn is_in(&self, sequence: u64) -> bool {
        self.chunk << (64 - CHUNK_BITS) == (sequence + 1) << (64 - CHUNK_BITS)
    }

    /// Like [`TracePosition::is_in`], and the last item stood for an operation.
    #[inline]
    pub(crate) fn moves_in(&self, sequence: u64) -> bool {
        self.chunk == sequence + 1
    }

    /// Counts an item that stands for at least one operation, after an item that also did.
    #[inline]
    pub(crate) fn move_on(&mut self, operations: u64) {
        self.position = self.position.wrapping_add(operations);
    }

    /// Sets the chunk that contains the activity's next bytes.
    #[inline]
    pub(crate) fn enter(&mut self, sequence: u64) {
        let still = self.chunk >> CHUNK_BITS << CHUNK_BITS;
        self.chunk = still | (sequence + 1) & ((1 << CHUNK_BITS) - 1);
    }

    /// Counts an item that stands for `operations` operations.
    #[inline]
    pub(crate) fn advance(&mut self, operations: u64) {
        self.position = self.position.wrapping_add(operations);
        // The word is only stored if it changes: the load for the next event would have to wait for the store.
        if operations > 0 {
            if self.still() != 0 {
                self.chunk &= (1 << CHUNK_BITS) - 1;
            }
        } else if self.still() < u16::MAX {
            self.chunk += 1 << CHUNK_BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_in_the_chunk_that_was_entered_last() {
        let mut place = TracePosition::default();
        assert!(!place.is_in(0));
        place.enter(0);
        assert!(place.is_in(0));
        place.advance(0);
        place.enter(7);
        assert!(place.is_in(7) && !place.is_in(0));
        assert_eq!((place.position(), place.still()), (0, 1));
        place.advance(3);
        assert!(place.is_in(7));
        assert_eq!((place.position(), place.still()), (3, 0));
    }

    #[test]
    fn standing_still_does_not_overflow_into_anything() {
        let mut place = TracePosition::default();
        place.enter(1 << 40);
        for _ in 0..70_000 {
            place.advance(0);
        }
        assert_eq!((place.position(), place.still()), (0, u16::MAX));
        assert!(place.is_in(1 << 40));
    }
}
