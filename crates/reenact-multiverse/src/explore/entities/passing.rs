//! Queues.

use std::collections::VecDeque;

use super::Latest;
use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of what passes through a queue.
///
/// # Nondeterminism
///
/// A send races with the send before it if that is received (in a queue that is bounded, in any case, for it may be that
/// only one of them finds room), a receive with the receive before it. A receive comes after the send of what it
/// takes, a send into a bounded queue after the receive that made room for it, otherwise the two have nothing to do with
/// each other.
///
/// To try to receive also races with the send of what it takes, or, if it finds the queue empty, with the last receive;
/// and then later sends race with the try. To try to send also races with the receive that made room, or, if it finds
/// the queue full, with the last send; and then the next receive races with the try. Tries that fail commute.
///
/// To close the queue races with what was sent and not received, with the last send and with tries that failed. To find it
/// closed races with the closing. A send that has waited for room until the closing is given up, and the next receive
/// races with that. A receive that finds the end of a closed queue comes after the closing and races with the last receive.
///
/// Dependent are: sends with sends, receives with receives, closing with sends; what found the queue empty or full with
/// sends, receives and closing; what found it closed with closing; what found its end with receives and with closing; a
/// send that was given up with receives and with closing. What may yet end in several of these ways, such as a try, or a
/// send into a queue that may be closed while it is full, is pending as something that depends on whatever each of its
/// ends depends on.
#[derive(Clone, Debug, Default)]
pub struct Passing {
    send: Option<Moment>,
    receive: Option<Moment>,
    close: Option<Moment>,
    under_way: VecDeque<Moment>,
    /// For a bounded queue: the free places, and which receives made them.
    room: Option<VecDeque<Option<Moment>>>,
    /// Tries in vain to receive. A send may come after them though it does not come after the send before it.
    found_empty: Latest,
    /// Tries in vain to send since the last receive.
    found_full: Latest,
    /// Tries in vain to send at all times. Unlike a send, a receive does not come before the closing.
    refused: Latest,
}

impl Passing {
    /// A queue for so many, at least one.
    pub fn bounded(capacity: usize) -> Self {
        Passing {
            room: Some(vec![None; capacity].into()),
            ..Passing::default()
        }
    }

    fn room(&self) -> Option<Moment> {
        self.room.as_ref()?.front().copied().flatten()
    }

    /// What a send would race with. It may have to wait.
    pub fn link_send(&self, links: &mut Links) {
        if let Some(receive) = self.room() {
            links.follows(receive);
        }
        self.link_sends(links);
    }

    /// What a try to send would race with if there is room.
    pub fn link_try_send(&self, links: &mut Links) {
        if let Some(receive) = self.room() {
            links.races(receive);
        }
        self.link_sends(links);
    }

    /// What a try to send would race with if there is no room.
    pub fn link_find_full(&self, links: &mut Links) {
        if let Some(send) = self.send {
            links.races(send);
        }
    }

    fn link_sends(&self, links: &mut Links) {
        match self.send {
            Some(send) if self.room.is_none() => links.races_if_seen(send),
            Some(send) => links.races(send),
            None => {}
        }
        self.found_empty.link_races(links);
    }

    /// What a receive would race with. It may have to wait.
    pub fn link_receive(&self, links: &mut Links) {
        if let Some(&send) = self.under_way.front() {
            links.follows(send);
        }
        self.link_receives(links);
    }

    /// What a try to receive would race with if there is something.
    pub fn link_try_receive(&self, links: &mut Links) {
        if let Some(&send) = self.under_way.front() {
            links.races(send);
        }
        self.link_receives(links);
    }

    /// What a try to receive would race with if there is nothing.
    pub fn link_find_empty(&self, links: &mut Links) {
        if let Some(receive) = self.receive {
            links.races(receive);
        }
    }

    fn link_receives(&self, links: &mut Links) {
        self.link_find_empty(links);
        self.found_full.link_races(links);
    }

    /// What closing would race with.
    pub fn link_close(&self, links: &mut Links) {
        self.link_find_full(links);
        for &send in &self.under_way {
            links.races(send);
        }
        self.found_empty.link_races(links);
        self.refused.link_races(links);
    }

    /// What a send would race with if the queue is closed and has room.
    pub fn link_send_in_vain(&self, links: &mut Links) {
        if let (Some(send), Some(receive)) = (self.send, self.room()) {
            links.barred(send, Some(receive));
        }
        self.link_find_closed(links);
        self.link_find_full(links);
    }

    /// What a try to send or another closing would race with if the queue is closed.
    pub fn link_find_closed(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.races(close);
        }
    }

    /// What a send would race with if the queue is closed and full: it has waited, and does not any more.
    pub fn link_give_up(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.follows(close);
        }
        self.link_find_full(links);
    }

    /// What a receive would race with if the queue is closed and empty.
    pub fn link_end(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.follows(close);
        }
        self.link_find_empty(links);
    }

    /// What a try to receive would race with if the queue is closed and empty.
    pub fn link_try_end(&self, links: &mut Links) {
        self.link_find_closed(links);
        self.link_find_empty(links);
    }

    /// Something is sent.
    pub fn send(&mut self, moment: Moment) {
        self.send = Some(moment);
        self.under_way.push_back(moment);
        if let Some(room) = &mut self.room {
            room.pop_front();
        }
    }

    /// What was sent first is taken.
    pub fn receive(&mut self, moment: Moment) {
        self.receive = Some(moment);
        self.under_way.pop_front();
        if let Some(room) = &mut self.room {
            room.push_back(Some(moment));
        }
        self.found_full.clear();
    }

    /// A try to receive failed.
    pub fn find_empty(&mut self, activity: Activity, moment: Moment) {
        self.found_empty.set(activity, moment);
    }

    /// A try to send failed.
    pub fn find_full(&mut self, activity: Activity, moment: Moment) {
        self.found_full.set(activity, moment);
        self.refused.set(activity, moment);
    }

    /// A send that has waited for room does not any more.
    pub fn give_up(&mut self, activity: Activity, moment: Moment) {
        self.found_full.set(activity, moment);
    }

    /// It is closed. What finds it closed or ended is not to be noted.
    pub fn close(&mut self, moment: Moment) {
        self.close = Some(moment);
    }
}
