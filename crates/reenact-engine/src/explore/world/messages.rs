//! Messages between actors, as people want to see them: what each is, who has sent it and where.
//!
//! The n-th message that comes into a mailbox is the n-th that is handled. So who is sent a message has a queue of what is known of
//! those that it has not handled, and whoever wants to know what a turn is looks there. It is kept only if somebody does.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use super::{Leave, World};
use crate::{Announcement, OperationKind, explore::event::About, site::Site};

impl World {
    /// What there is to say of a message that is about to be sent, or handled.
    #[inline]
    pub(super) fn about(&self, announcement: &Announcement<'_>) -> Option<Arc<About>> {
        match self.state().wants_labels {
            true => self.find_out_about(announcement),
            false => None,
        }
    }

    #[cold]
    fn find_out_about(&self, announcement: &Announcement<'_>) -> Option<Arc<About>> {
        let envelope = announcement.envelope?;
        if announcement.op.kind() == OperationKind::Turn {
            self.looks_at(announcement);
            let state = self.state();
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

    /// A message that was announced has been sent.
    #[inline]
    pub(super) fn is_sent(&self, announcement: &Announcement<'_>) {
        if self.state().wants_labels {
            self.puts_into_inbox(announcement);
        }
    }

    #[cold]
    fn puts_into_inbox(&self, announcement: &Announcement<'_>) {
        let state = self.state();
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

    /// The activity that runs handles its first message.
    #[inline]
    pub(super) fn begins_turn(&self) {
        let state = self.state();
        if state.wants_labels
            && let Some(actor) = state.actors.get_mut(state.current as usize)
        {
            actor.turn = actor.inbox.pop_front();
        }
    }

    /// Whether nobody wants to know when a message has been handled.
    #[inline]
    pub(crate) fn ignores_turns(&self) -> bool {
        !self.state().wants_labels
    }

    /// It has handled it.
    pub(super) fn ends_turn(&self, announcement: &Announcement<'_>) {
        let state = self.state();
        let is_turn = announcement.op.kind() == OperationKind::Turn;
        if is_turn && state.wants_labels && !state.is_ending {
            self.looks_at(announcement);
            let state = self.state();
            if let Some(actor) = state.actors.get_mut(state.current as usize) {
                actor.turn = None;
            }
        }
    }

    /// The activity that runs is in no turn: looks how it is.
    fn looks_at(&self, announcement: &Announcement<'_>) {
        let state = announcement.envelope.and_then(|envelope| envelope.state);
        let shown = state.and_then(|state| self.describe(state)).flatten();
        let state = self.state();
        if let Some(actor) = state.actors.get_mut(state.current as usize) {
            actor.shown = shown;
        }
    }

    /// What a text says. None if it cannot be had without doing something that others would notice.
    fn describe<R>(&self, text: &dyn Fn() -> R) -> Option<R> {
        self.state().is_describing = true;
        let text = catch_unwind(AssertUnwindSafe(text));
        self.state().is_describing = false;
        text.ok()
    }

    /// Refuses an operation of one that is only to be described.
    #[inline]
    pub(super) fn refuses_while_describing(&self) {
        if self.state().is_describing {
            resume_unwind(Box::new(Leave));
        }
    }
}
