//! Messages between actors, for display: what each one is, who sent it, and where.
//!
//! Messages of a mailbox are handled in the order of their arrival. So each receiver has a queue of the descriptions of
//! messages that it has not handled, whose first one describes the next turn. It is kept only if labels are requested.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use super::{Execution, Leave};
use crate::{Announcement, OperationKind, explore::event::About, site::Site};

impl Execution {
    /// Returns the description of a message that is about to be sent or handled.
    #[inline]
    pub(super) fn about(&self, announcement: &Announcement<'_>) -> Option<Arc<About>> {
        let are_wanted = self.state().wants_labels;
        match are_wanted {
            true => self.find_out_about(announcement),
            false => None,
        }
    }

    #[cold]
    fn find_out_about(&self, announcement: &Announcement<'_>) -> Option<Arc<About>> {
        let envelope = announcement.envelope?;
        if announcement.op.kind() == OperationKind::Turn {
            self.note_state(announcement);
            let state = &mut *self.state();
            let actor = state.actors.get(state.current as usize)?;
            return actor.inbox.front().cloned();
        }
        let label = announcement.label.and_then(|label| self.describe(label));
        Some(Arc::new(About {
            label: label.unwrap_or_default(),
            peer: envelope.to,
            sent_at: None,
        }))
    }

    /// Notes that an announced message has been sent.
    #[inline]
    pub(super) fn note_sent(&self, announcement: &Announcement<'_>) {
        if self.state().wants_labels {
            self.put_into_inbox(announcement);
        }
    }

    #[cold]
    fn put_into_inbox(&self, announcement: &Announcement<'_>) {
        let state = &mut *self.state();
        let sender = state.current;
        let Some(envelope) = announcement.envelope else {
            return;
        };
        let event = state.actors.get(sender as usize);
        let event = event.map(|actor| &actor.pending.event);
        let Some((sent, sent_at)) =
            event.and_then(|event| Some((event.about.clone()?, event.line())))
        else {
            return;
        };
        let sent_at = sent_at.map(|site| Site::kept(site.file, site.line, site.column));
        if let Some(receiver) = state.actors.get_mut(envelope.to as usize) {
            receiver.inbox.push_back(Arc::new(About {
                label: sent.label.clone(),
                peer: envelope.arrival.sender().unwrap_or(sender),
                sent_at: Some(sent_at),
            }));
        }
    }

    /// Notes that the current activity begins to handle its first message.
    #[inline]
    pub(super) fn begin_turn(&self) {
        let state = &mut *self.state();
        if state.wants_labels
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.turn = actor.inbox.pop_front();
        }
    }

    /// Returns whether the end of a turn need not be reported.
    #[inline]
    pub(crate) fn ignores_turns(&self) -> bool {
        !self.state().wants_labels
    }

    /// Notes that the current activity has handled its message.
    pub(super) fn end_turn(&self, announcement: &Announcement<'_>) {
        let is_turn = announcement.op.kind() == OperationKind::Turn;
        if is_turn && !self.ignores_turns() && !self.is_ending() {
            self.note_state(announcement);
            let state = &mut *self.state();
            if let Some(actor) = state.actors.get_mut(state.current as usize) {
                actor.turn = None;
            }
        }
    }

    /// Notes the state of the current activity, which is outside a turn.
    fn note_state(&self, announcement: &Announcement<'_>) {
        let state = announcement.envelope.and_then(|envelope| envelope.state);
        let shown = state.and_then(|state| self.describe(state)).flatten();
        let state = &mut *self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.shown = shown;
        }
    }

    /// Evaluates a description. Returns none if it panics, as it does if it performs an operation that others would
    /// notice.
    fn describe<R>(&self, text: &dyn Fn() -> R) -> Option<R> {
        self.state().is_describing = true;
        let text = catch_unwind(AssertUnwindSafe(text));
        self.state().is_describing = false;
        text.ok()
    }

    /// Refuses, by unwinding, operations of a description.
    #[inline]
    pub(super) fn refuse_while_describing(&self) {
        if self.state().is_describing {
            resume_unwind(Box::new(Leave));
        }
    }
}
