//! Messages that were sent and not yet handled, for the log: the label of each, and where it was sent.
//!
//! A message that has a number is found by it. Otherwise the n-th message handled from a sender is the n-th that it has
//! sent.

use std::{
    cell::Cell,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Mutex, PoisonError},
};

use crate::{
    Announcement, Arrival, Decision, Map,
    arrivals::{DIRECT, NUMBERED},
    site::Site,
};

thread_local! {
    /// Whether a label is being computed on this thread.
    static IS_DESCRIBING: Cell<bool> = const { Cell::new(false) };
}

/// A message that was sent.
pub(super) struct Sent {
    /// Its label, such as `double(12)`.
    pub(super) label: String,
    /// The sender; `None` if the message continues a turn of its receiver.
    pub(super) from: Option<u32>,
    /// The line that has sent it.
    pub(super) site: String,
}

/// Unhandled messages by the receiver and by how the receiver identifies them.
#[derive(Default)]
pub(super) struct Unhandled(Mutex<Map<(u32, Arrival), VecDeque<Sent>>>);

impl Unhandled {
    /// Adds a message that is sent, unless it is refused.
    pub(super) fn put(&self, announcement: &Announcement<'_>, decision: Decision, label: &str) {
        let Some(envelope) = announcement.envelope else {
            return;
        };
        let arrival = match decision {
            // The mailbox is full.
            Decision::Answer(0) if is_question(announcement) => return,
            // The answer is the position in the receiver's order.
            Decision::Answer(position) if !is_question(announcement) => Arrival {
                source: DIRECT | NUMBERED,
                number: position,
            },
            _ => envelope.arrival,
        };
        let sent = Sent {
            label: label.to_owned(),
            from: envelope.arrival.sender(),
            site: Site::text(Site::shown(announcement.site)),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((envelope.to, arrival))
            .or_default()
            .push_back(sent);
    }

    /// Removes a message that is handled.
    pub(super) fn take(&self, by: u32, arrival: Arrival) -> Option<Sent> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = all.get_mut(&(by, arrival))?;
        let first = sent.pop_front();
        if sent.is_empty() {
            all.remove(&(by, arrival));
        }
        first
    }
}

fn is_question(announcement: &Announcement<'_>) -> bool {
    announcement.access == crate::Access::Ask
}

/// Returns the label of a message; empty if computing it would perform an operation.
pub(super) fn label_of(announcement: &Announcement<'_>) -> String {
    let Some(label) = announcement.label else {
        return String::new();
    };
    IS_DESCRIBING.set(true);
    let label = catch_unwind(AssertUnwindSafe(label));
    IS_DESCRIBING.set(false);
    // The label is part of a line.
    let label = label.unwrap_or_default();
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Refuses an operation that computing a label performs, by unwinding.
pub(super) fn refuse_while_describing() {
    if IS_DESCRIBING.get() {
        resume_unwind(Box::new("only to be described"));
    }
}
