//! Messages that arrived too early in a replay: kept until it is their turn.

use std::{collections::VecDeque, mem::MaybeUninit};

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

/// A message moved out of its mailbox: the header, then the captures, of which some bytes may be padding.
pub(super) struct Kept(Vec<MaybeUninit<u64>>);

// SAFETY: What is not `Send` by itself are the captures, and a mailbox accepts only messages that are `Send`.
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
        // SAFETY: The captures are this many words in the mailbox, which does not change before the caller advances. Not
        // all of their bytes need to be initialized, which `MaybeUninit` allows.
        let captures = unsafe {
            std::slice::from_raw_parts(message.captures.cast::<MaybeUninit<u64>>(), words)
        };
        let mut kept = Vec::with_capacity(1 + words);
        kept.push(MaybeUninit::new(message.header));
        kept.extend_from_slice(captures);
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
            // SAFETY: `Stash::keep` has initialized the first word with the header.
            header: unsafe { self.0[0].assume_init() },
            captures: self.0[1..].as_mut_ptr().cast(),
        }
    }
}

impl Drop for Stash {
    fn drop(&mut self) {
        for mut kept in self.kept.drain().flat_map(|(_, kept)| kept) {
            let message = kept.message();
            // SAFETY: The header names the handler of these captures, which nobody else has: a message leaves the stash
            // when it is taken to be run.
            unsafe { handler_of(message.header)(message.captures, DROP) };
        }
    }
}
