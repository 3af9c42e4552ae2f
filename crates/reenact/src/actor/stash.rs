//! Messages that arrived too early in a replay: kept until it is their turn.

use std::collections::VecDeque;

use reenact_engine::{Arrival, Map};

use super::{
    mailbox::{DROP, MEASURE, Message},
    turns::{arrival_of, handler_of},
};

/// Messages by origin, each in the order in which they arrived.
#[derive(Default)]
pub(super) struct Stash {
    kept: Map<Arrival, VecDeque<Kept>>,
}

/// A message moved out of its mailbox: the header, then the captures.
pub(super) struct Kept(Vec<u64>);

// SAFETY: Messages are `Send`.
unsafe impl Send for Stash {}

impl Stash {
    /// Moves a message out of its mailbox and returns how many words its captures take there.
    ///
    /// # Safety
    ///
    /// Only for the consumer, which advances past the message afterwards.
    pub(super) unsafe fn keep(&mut self, message: Message) -> usize {
        // SAFETY: The handler is the message's, and its captures are as long as it says.
        let words = unsafe { handler_of(message.header)(message.captures, MEASURE) };
        let mut kept = Vec::with_capacity(1 + words);
        kept.push(message.header);
        for word in 0..words {
            // SAFETY: The word is part of the captures. The last word may be initialized only in part.
            let word = unsafe {
                message
                    .captures
                    .add(word)
                    .cast::<std::mem::MaybeUninit<u64>>()
                    .read()
            };
            // SAFETY: Whatever the word contains, it is only copied.
            kept.push(unsafe { word.assume_init() });
        }
        // SAFETY: The caller is the consumer, and the message has not been run.
        let arrival = unsafe { arrival_of(message) };
        self.kept.entry(arrival).or_default().push_back(Kept(kept));
        words
    }

    /// Takes the first message with this origin.
    pub(super) fn take(&mut self, arrival: Arrival) -> Option<Kept> {
        let kept = self.kept.get_mut(&arrival)?;
        let first = kept.pop_front();
        if kept.is_empty() {
            self.kept.remove(&arrival);
        }
        first
    }

    /// Returns the origin of some message in the stash.
    pub(super) fn any(&self) -> Option<Arrival> {
        self.kept.keys().next().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl Kept {
    pub(super) fn message(&mut self) -> Message {
        Message {
            header: self.0[0],
            captures: self.0[1..].as_mut_ptr(),
        }
    }
}

impl Drop for Stash {
    fn drop(&mut self) {
        for mut kept in self.kept.drain().flat_map(|(_, kept)| kept) {
            let message = kept.message();
            // SAFETY: The message has not been run.
            unsafe { handler_of(message.header)(message.captures, DROP) };
        }
    }
}
