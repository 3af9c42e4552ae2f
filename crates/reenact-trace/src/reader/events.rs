//! The stream of one activity, in either form of the trace.

use std::{ops::Range, sync::Arc};

use super::{EventStorage, Trace};
use crate::{
    catalog::Last,
    entry::{Entry, MAX_ITEM, decode},
    error::{Damage, TraceError},
    event::Item,
};

/// The events of one activity, in order. The last item is always [`Item::Cut`], unless there is an error before.
pub struct EventStream {
    trace: Arc<Trace>,
    /// What is not in the buffer yet: pieces, or bytes of the streams.
    left: Range<u64>,
    buffer: Vec<u8>,
    read: usize,
    /// The buffer is refilled when this much of it has been read, if there is more.
    refill_at: usize,
    /// Offset of the buffer in the file.
    offset: u64,
    position: u64,
    last: Last,
    /// Why nothing follows what is in the buffer.
    failure: Option<Box<TraceError>>,
    done: bool,
}

impl EventStream {
    pub(super) fn new(trace: Arc<Trace>, left: Range<u64>, last: Last) -> EventStream {
        EventStream {
            trace,
            left,
            buffer: Vec::new(),
            read: 0,
            refill_at: 0,
            offset: 0,
            position: 0,
            last,
            failure: None,
            done: false,
        }
    }

    /// Returns how many operations of the activity the items so far stand for.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn advance(&mut self) -> Result<Item, TraceError> {
        if let Last::Ended { operations, hash } = self.last {
            self.last = Last::Nothing;
            self.position += u64::from(operations);
            return Ok(Item::End {
                silent: operations,
                hash,
            });
        }
        loop {
            // An item may cross the boundary between two sections.
            while self.read >= self.refill_at && !self.left.is_empty() {
                if let Err(error) = self.refill() {
                    // The items before the error are still returned.
                    self.left = 0..0;
                    self.failure = Some(Box::new(error));
                }
            }
            if self.read == self.buffer.len() {
                return match self.failure.take() {
                    Some(error) => Err(*error),
                    None => Ok(self.cut()),
                };
            }
            let offset = self.offset + self.read as u64;
            let damaged = |what| self.trace.damaged(Damage { offset, what });
            let mut rest = &self.buffer[self.read..];
            let entry = match decode(&mut rest, self.trace.version) {
                Ok(entry) => entry,
                Err(what) => {
                    let failure = self.failure.take();
                    return Err(failure.map_or_else(|| damaged(what), |error| *error));
                }
            };
            self.read = self.buffer.len() - rest.len();
            match (entry, &self.trace.form) {
                (Entry::Item(item), _) => {
                    self.position = self.position.wrapping_add(item.operations());
                    return Ok(item);
                }
                // Indexing has processed these.
                (Entry::Start { .. } | Entry::Run(_), EventStorage::Chunks(pieces))
                    if pieces.is_structured(self.left.start as usize - 1) => {}
                (Entry::Start { .. } | Entry::Run(_), EventStorage::Chunks(_)) => {
                    return Err(damaged(
                        "a start or quiet end is in a chunk that says it has only events",
                    ));
                }
                (Entry::Switch { .. } | Entry::Return { .. }, EventStorage::Chunks(_)) => {
                    return Err(damaged(
                        "an activity is named in a chunk that says it has only one",
                    ));
                }
                (_, EventStorage::Grouped(..)) => {
                    return Err(damaged("the stream of an activity has more than its items"));
                }
            }
        }
    }

    /// Refills the buffer: with the next piece, when the one before it has been read, or with more bytes, when less
    /// than a whole item may be left.
    fn refill(&mut self) -> Result<(), TraceError> {
        let trace = &*self.trace;
        match &trace.form {
            EventStorage::Chunks(pieces) => {
                let next = self.left.start as usize;
                self.read = 0;
                self.offset = pieces
                    .read(trace, next, self.position, &mut self.buffer)
                    .inspect_err(|_| self.buffer.clear())?;
                self.left.start += 1;
                self.refill_at = self.buffer.len();
            }
            EventStorage::Grouped(streams, _) => {
                self.buffer.drain(..self.read);
                self.read = 0;
                let kept = self.buffer.len() as u64;
                let room = trace.buffer_size() as u64 - kept;
                let end = self.left.end.min(self.left.start + room);
                self.offset = streams.offset_of(self.left.start).saturating_sub(kept);
                self.left.start = streams.read(trace, self.left.start..end, &mut self.buffer)?;
                self.refill_at = match self.left.is_empty() {
                    true => self.buffer.len(),
                    false => self.buffer.len().saturating_sub(MAX_ITEM),
                };
            }
        }
        Ok(())
    }

    /// Returns what the activity counted after its last event. In a damaged trace it may have counted events that are
    /// lost.
    fn cut(&mut self) -> Item {
        self.done = true;
        if self.trace.damage.is_none()
            && let Last::Counted { counter, hash } = self.last
        {
            let silent = counter.wrapping_sub(self.position as u32);
            // One less than the events say: the process was killed between writing an event and counting it.
            if silent < 1 << 31 {
                self.position = self.position.wrapping_add(silent.into());
                return Item::Cut {
                    silent,
                    hash: Some(hash),
                };
            }
        }
        Item::Cut {
            silent: 0,
            hash: None,
        }
    }
}

impl Iterator for EventStream {
    type Item = Result<Item, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.advance();
        if item.is_err() {
            self.done = true;
        }
        Some(item)
    }
}
