//! Entities that know with what their operations race.
//!
//! Each keeps the moments of the operations that a next one would be ordered after, and nothing of what the operations
//! do: a variable has its value elsewhere. Before a step, `link_…` tells; with the step, the other function of that name
//! takes note.

use std::collections::VecDeque;

use super::{Links, Moment};
use crate::Activity;

/// The order of accesses to a variable.
///
/// # Nondeterminism
///
/// A write races with the reads since the write before it, or with that write if there were none. A read races with the
/// write that it sees. Reads commute. What reads and writes in one step, such as an atomic addition, is a write.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    write: Option<Moment>,
    /// The last read since then of each activity.
    reads: Vec<(Activity, Moment)>,
}

impl Accesses {
    /// What a read would race with.
    pub fn link_read(&self, links: &mut Links) {
        if let Some(write) = self.write {
            links.races(write);
        }
    }

    /// What a write would race with.
    pub fn link_write(&self, links: &mut Links) {
        if self.reads.is_empty() {
            self.link_read(links);
        }
        for &(_, read) in &self.reads {
            links.races(read);
        }
    }

    /// It is read.
    pub fn read(&mut self, activity: Activity, moment: Moment) {
        match self.reads.iter_mut().find(|(who, _)| *who == activity) {
            Some((_, last)) => *last = moment,
            None => self.reads.push((activity, moment)),
        }
    }

    /// It is written.
    pub fn write(&mut self, moment: Moment) {
        self.write = Some(moment);
        self.reads.clear();
    }
}

/// The order of those who hold something one at a time, such as a mutex.
///
/// # Nondeterminism
///
/// A lock comes after the unlock before it and races with the lock before that. An unlock races with nothing.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    lock: Option<Moment>,
    unlock: Option<Moment>,
}

impl Holding {
    /// What a lock would race with. It may have to wait.
    pub fn link_lock(&self, links: &mut Links) {
        if let Some(unlock) = self.unlock {
            links.follows(unlock);
        }
        if let Some(lock) = self.lock {
            links.races(lock);
        }
    }

    /// What an unlock comes after.
    pub fn link_unlock(&self, links: &mut Links) {
        if let Some(lock) = self.lock {
            links.after(lock);
        }
    }

    /// Somebody has it.
    pub fn lock(&mut self, moment: Moment) {
        self.lock = Some(moment);
    }

    /// Nobody has it any more.
    pub fn unlock(&mut self, moment: Moment) {
        self.unlock = Some(moment);
    }
}

/// The order of what passes through a queue that is never full.
///
/// # Nondeterminism
///
/// A send races with the send before it, a receive with the receive before it. A receive comes after the send of what it
/// takes, otherwise the two have nothing to do with each other.
#[derive(Clone, Debug, Default)]
pub struct Passing {
    send: Option<Moment>,
    receive: Option<Moment>,
    under_way: VecDeque<Moment>,
}

impl Passing {
    /// What a send would race with.
    pub fn link_send(&self, links: &mut Links) {
        if let Some(send) = self.send {
            links.races(send);
        }
    }

    /// What a receive would race with. It may have to wait.
    pub fn link_receive(&self, links: &mut Links) {
        if let Some(&send) = self.under_way.front() {
            links.follows(send);
        }
        if let Some(receive) = self.receive {
            links.races(receive);
        }
    }

    /// Something is sent.
    pub fn send(&mut self, moment: Moment) {
        self.send = Some(moment);
        self.under_way.push_back(moment);
    }

    /// What was sent first is taken.
    pub fn receive(&mut self, moment: Moment) {
        self.receive = Some(moment);
        self.under_way.pop_front();
    }
}
