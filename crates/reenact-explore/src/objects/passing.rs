//! Queues.

use std::collections::VecDeque;

use super::Latest;
use crate::{Activity, Links, Moment};

/// The order of operations on a queue.
///
/// # Nondeterminism
///
/// A send races with the previous send if that is received (in a bounded queue always, since there may be room for only
/// one of them); a receive races with the previous receive. A receive is ordered after the send of its message, and a
/// send into a bounded queue after the receive that made room for it; otherwise sends and receives are independent.
///
/// A `try_recv` also races with the send of its message, or, if it finds the queue empty, with the last receive; later
/// sends then race with it. A `try_send` also races with the receive that made room, or, if it finds the queue full,
/// with the last send; the next receive then races with it. Failed tries commute.
///
/// Closing the queue races with the sends not yet received, with the last send and with failed tries. Finding the queue
/// closed races with the closing. A send that was waiting for room when the queue was closed gives up, and the next
/// receive races with that. A receive that finds the end of a closed queue is ordered after the closing and races with
/// the last receive.
///
/// Dependent pairs: sends with sends, receives with receives, closing with sends; finding the queue empty or full with
/// sends, receives and closing; finding it closed with closing; finding its end with receives and with closing; a send
/// that gives up with receives and with closing. An operation that may still end in several of these ways, such as a
/// try, or a send into a queue that may be closed while it is full, is pending as an operation that depends on
/// everything that any of its outcomes depends on.
#[derive(Clone, Debug, Default)]
pub struct Passing {
    send: Option<Moment>,
    receive: Option<Moment>,
    close: Option<Moment>,
    under_way: VecDeque<Moment>,
    /// For a bounded queue: the free slots, and which receives made them free.
    room: Option<VecDeque<Option<Moment>>>,
    /// Failed `try_recv`s. A send may be ordered after them without being ordered after the previous send.
    found_empty: Latest,
    /// Failed `try_send`s since the last receive.
    found_full: Latest,
    /// All failed `try_send`s. Closing is ordered after sends but not after receives.
    refused: Latest,
}

impl Passing {
    /// A queue with this capacity, at least one.
    pub fn bounded(capacity: usize) -> Self {
        Passing {
            room: Some(vec![None; capacity].into()),
            ..Passing::default()
        }
    }

    fn room(&self) -> Option<Moment> {
        self.room.as_ref()?.front().copied().flatten()
    }

    /// Links of a send. It may have to wait.
    pub fn link_send(&self, links: &mut Links) {
        if let Some(receive) = self.room() {
            links.follows(receive);
        }
        self.link_sends(links);
    }

    /// Links of a `try_send` that finds room.
    pub fn link_try_send(&self, links: &mut Links) {
        if let Some(receive) = self.room() {
            links.races(receive);
        }
        self.link_sends(links);
    }

    /// Links of a `try_send` that finds no room.
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

    /// Links of a receive. It may have to wait.
    pub fn link_receive(&self, links: &mut Links) {
        if let Some(&send) = self.under_way.front() {
            links.follows(send);
        }
        self.link_receives(links);
    }

    /// Links of a `try_recv` that finds a message.
    pub fn link_try_receive(&self, links: &mut Links) {
        if let Some(&send) = self.under_way.front() {
            links.races(send);
        }
        self.link_receives(links);
    }

    /// Links of a `try_recv` that finds the queue empty.
    pub fn link_find_empty(&self, links: &mut Links) {
        if let Some(receive) = self.receive {
            links.races(receive);
        }
    }

    fn link_receives(&self, links: &mut Links) {
        self.link_find_empty(links);
        self.found_full.link_races(links);
    }

    /// Links of closing.
    pub fn link_close(&self, links: &mut Links) {
        self.link_find_full(links);
        for &send in &self.under_way {
            links.races(send);
        }
        self.found_empty.link_races(links);
        self.refused.link_races(links);
    }

    /// Links of a send if the queue is closed and has room.
    pub fn link_send_in_vain(&self, links: &mut Links) {
        if let (Some(send), Some(receive)) = (self.send, self.room()) {
            links.barred(send, Some(receive));
        }
        self.link_find_closed(links);
        self.link_find_full(links);
    }

    /// Links of a `try_send` or another closing if the queue is closed.
    pub fn link_find_closed(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.races(close);
        }
    }

    /// Links of a send if the queue is closed and full: it stops waiting.
    pub fn link_give_up(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.follows(close);
        }
        self.link_find_full(links);
    }

    /// Links of a receive if the queue is closed and empty.
    pub fn link_end(&self, links: &mut Links) {
        if let Some(close) = self.close {
            links.follows(close);
        }
        self.link_find_empty(links);
    }

    /// Links of a `try_recv` if the queue is closed and empty.
    pub fn link_try_end(&self, links: &mut Links) {
        self.link_find_closed(links);
        self.link_find_empty(links);
    }

    /// Records a send.
    pub fn send(&mut self, moment: Moment) {
        self.send = Some(moment);
        self.under_way.push_back(moment);
        if let Some(room) = &mut self.room {
            room.pop_front();
        }
    }

    /// Records a receive of the oldest message.
    pub fn receive(&mut self, moment: Moment) {
        self.receive = Some(moment);
        self.under_way.pop_front();
        if let Some(room) = &mut self.room {
            room.push_back(Some(moment));
        }
        self.found_full.clear();
    }

    /// Records a failed `try_recv`.
    pub fn find_empty(&mut self, activity: Activity, moment: Moment) {
        self.found_empty.set(activity, moment);
    }

    /// Records a failed `try_send`.
    pub fn find_full(&mut self, activity: Activity, moment: Moment) {
        self.found_full.set(activity, moment);
        self.refused.set(activity, moment);
    }

    /// Records that a send stops waiting for room.
    pub fn give_up(&mut self, activity: Activity, moment: Moment) {
        self.found_full.set(activity, moment);
    }

    /// Records closing. Operations that find the queue closed or ended are not recorded.
    pub fn close(&mut self, moment: Moment) {
        self.close = Some(moment);
    }
}
