//! Messages that were sent and not handled yet, for the log: what each is, and where it was sent.
//!
//! A message that has a number is found by it. Of the others, the n-th that is handled from a sender is the n-th that it has sent.

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
    /// Whether it is only asked what something is called.
    static IS_DESCRIBING: Cell<bool> = const { Cell::new(false) };
}

/// A message that was sent.
pub(super) struct Sent {
    /// What it is, such as `double(12)`.
    pub(super) label: String,
    /// Who has sent it, unless it continues a turn of its receiver.
    pub(super) from: Option<u32>,
    /// The line that has sent it.
    pub(super) site: String,
}

/// Those that were not handled, by who handles them and by what that one knows them by.
#[derive(Default)]
pub(super) struct Unhandled(Mutex<Map<(u32, Arrival), VecDeque<Sent>>>);

impl Unhandled {
    /// A message is sent, unless it is refused.
    pub(super) fn put(&self, announcement: &Announcement<'_>, decision: Decision, label: &str) {
        let Some(envelope) = announcement.envelope else {
            return;
        };
        let arrival = match decision {
            // There is no room for it.
            Decision::Answer(0) if is_question(announcement) => return,
            // It is its position in the order of its receiver.
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

    /// A message is handled.
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

/// What a message is called. What is not to be had without doing something is left out.
pub(super) fn label_of(announcement: &Announcement<'_>) -> String {
    let Some(label) = announcement.label else {
        return String::new();
    };
    IS_DESCRIBING.set(true);
    let label = catch_unwind(AssertUnwindSafe(label));
    IS_DESCRIBING.set(false);
    // It is part of a line.
    let label = label.unwrap_or_default();
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Refuses an operation of one that is only to be described.
pub(super) fn refuse_while_describing() {
    if IS_DESCRIBING.get() {
        resume_unwind(Box::new("only to be described"));
    }
}
