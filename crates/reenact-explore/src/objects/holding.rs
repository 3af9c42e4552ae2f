//! Mutexes.

use super::Latest;
use crate::{Activity, Links, Moment};

/// The order of operations on something held by one activity at a time, such as a mutex.
///
/// # Nondeterminism
///
/// A lock is ordered after the previous unlock and races with the previous lock. A `try_lock` while the mutex is held
/// races with the holder's lock, and then the holder's unlock races with the `try_lock`. A `try_lock` while it is free
/// races with the last unlock. Failed tries commute. Without tries, an unlock races with nothing.
///
/// Dependent pairs: locks with locks; failed tries with locks and with unlocks; a try whose result is not known yet
/// with all of these and with tries.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    lock: Option<Moment>,
    unlock: Option<Moment>,
    /// Failed tries since the lock.
    in_vain: Latest,
}

impl Holding {
    /// Links of a lock. It may have to wait.
    pub fn link_lock(&self, links: &mut Links) {
        if let Some(unlock) = self.unlock {
            links.follows(unlock);
        }
        if let Some(lock) = self.lock {
            links.races(lock);
        }
    }

    /// Links of a try, whether it succeeds or not.
    pub fn link_try(&self, links: &mut Links) {
        // If the unlock is the later one, it is ordered after the lock anyway.
        if let Some(last) = self.lock.max(self.unlock) {
            links.races(last);
        }
    }

    /// Links of an unlock.
    pub fn link_unlock(&self, links: &mut Links) {
        if let Some(lock) = self.lock {
            links.after(lock);
        }
        self.in_vain.link_races(links);
    }

    /// Records a lock, or a try that succeeded.
    pub fn lock(&mut self, moment: Moment) {
        self.lock = Some(moment);
        self.in_vain.clear();
    }

    /// Records a failed try.
    pub fn try_in_vain(&mut self, activity: Activity, moment: Moment) {
        self.in_vain.set(activity, moment);
    }

    /// Records an unlock.
    pub fn unlock(&mut self, moment: Moment) {
        self.unlock = Some(moment);
    }
}
