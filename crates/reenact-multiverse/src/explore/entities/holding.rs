//! Mutexes.

use super::Latest;
use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of those who hold something one at a time, such as a mutex.
///
/// # Nondeterminism
///
/// A lock comes after the unlock before it and races with the lock before that. To try the lock while somebody has it
/// races with that one's lock, and then that one's unlock races with the try. To try it while nobody has it races with
/// the last unlock. Tries that fail commute. Where nobody tries, an unlock races with nothing.
///
/// Dependent are: locks with locks; what was tried in vain with locks and with unlocks; a try, as long as it is not known
/// how it ends, with all of these and with tries.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    lock: Option<Moment>,
    unlock: Option<Moment>,
    /// Tries in vain since the lock.
    in_vain: Latest,
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

    /// What a try would race with, whether it succeeds or not.
    pub fn link_try(&self, links: &mut Links) {
        // One of them is the later one, and if that is the unlock, it comes after the lock anyhow.
        if let Some(last) = self.lock.max(self.unlock) {
            links.races(last);
        }
    }

    /// What an unlock would race with.
    pub fn link_unlock(&self, links: &mut Links) {
        if let Some(lock) = self.lock {
            links.after(lock);
        }
        self.in_vain.link_races(links);
    }

    /// Somebody has it, perhaps because a try succeeded.
    pub fn lock(&mut self, moment: Moment) {
        self.lock = Some(moment);
        self.in_vain.clear();
    }

    /// A try failed.
    pub fn try_in_vain(&mut self, activity: Activity, moment: Moment) {
        self.in_vain.set(activity, moment);
    }

    /// Nobody has it any more.
    pub fn unlock(&mut self, moment: Moment) {
        self.unlock = Some(moment);
    }
}
