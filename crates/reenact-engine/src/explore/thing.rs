//! What is known of a thing in the current execution: who has it, and what next events at it come after.

use std::{collections::VecDeque, panic::Location};

use reenact_multiverse::explore::{Links, Moment};

use super::event::How;

/// A lock, a value, a queue, a condition: whatever activities meet at.
#[derive(Default)]
pub(super) struct Thing {
    /// Who has taken it, and where.
    pub(super) holder: Option<(u32, &'static Location<'static>)>,
    /// Who looks at it.
    pub(super) lookers: Vec<u32>,
    /// Who waits for its signal.
    pub(super) waiters: Vec<u32>,
    /// Those events that a next one may race with.
    recent: Vec<(u32, How, Moment)>,
    /// When those who took it last gave it back, and those who looked since.
    released: Option<Moment>,
    looked: Vec<Moment>,
    /// When what is in it was sent; when anything was received.
    under_way: VecDeque<Moment>,
    received: Vec<Moment>,
    sent: usize,
    /// When senders went.
    stopped: Vec<Moment>,
}

impl Thing {
    /// As if nobody had met it.
    pub(super) fn clear(&mut self) {
        self.holder = None;
        self.released = None;
        self.sent = 0;
        self.lookers.clear();
        self.waiters.clear();
        self.recent.clear();
        self.looked.clear();
        self.under_way.clear();
        self.received.clear();
        self.stopped.clear();
    }

    /// Whether somebody may take it now.
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.lookers.is_empty()
    }

    /// What an event of this kind would come after. `room` is how much fits into a queue.
    pub(super) fn link(&self, activity: u32, how: How, room: usize, links: &mut Links) {
        for &(who, before, moment) in &self.recent {
            if who != activity && how.conflicts(before) {
                links.races(moment);
            }
        }
        match how {
            How::Take | How::TryTake => {
                self.released.into_iter().for_each(|at| links.follows(at));
                self.looked.iter().for_each(|&at| links.follows(at));
            }
            How::Look | How::TryLook => {
                self.released.into_iter().for_each(|at| links.follows(at));
            }
            How::Receive | How::TryReceive => match self.under_way.front() {
                Some(&sent) => links.follows(sent),
                None => self.stopped.iter().for_each(|&at| links.follows(at)),
            },
            How::Send | How::TrySend => {
                let made_room = self.sent.checked_sub(room);
                if let Some(&at) = made_room.and_then(|index| self.received.get(index)) {
                    links.follows(at);
                }
            }
            _ => {}
        }
    }

    /// It happens.
    pub(super) fn note(&mut self, activity: u32, how: How, moment: Moment) {
        self.recent.retain(|&(who, before, _)| {
            let is_before = who == activity || how.conflicts(before);
            !(is_before && how.stands_for(before))
        });
        self.recent.push((activity, how, moment));
    }

    /// Something is sent, or received.
    pub(super) fn sent(&mut self, moment: Moment) {
        self.sent += 1;
        self.under_way.push_back(moment);
    }

    pub(super) fn received(&mut self, moment: Moment) {
        self.under_way.pop_front();
        self.received.push(moment);
    }

    /// A sender has gone.
    pub(super) fn stopped(&mut self, moment: Moment) {
        self.stopped.push(moment);
    }

    /// Who took it has given it back.
    pub(super) fn released(&mut self, moment: Option<Moment>) {
        self.holder = None;
        self.released = moment;
        self.looked.clear();
    }

    /// Who looked at it does not any more.
    pub(super) fn looked(&mut self, activity: u32, moment: Option<Moment>) {
        if let Some(index) = self.lookers.iter().position(|&who| who == activity) {
            self.lookers.swap_remove(index);
        }
        self.looked.extend(moment);
    }
}
