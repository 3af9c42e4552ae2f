//! Condition variables.

use super::Latest;
use crate::{Activity, Links, Moment};

/// The order of waits and notifications.
///
/// # Nondeterminism
///
/// A notification races with every wait that has begun since the previous notification, or with that notification if
/// there is none. Beginning to wait races with the last notification. Beginnings to wait commute: which activity a
/// notification wakes does not depend on the order in which they came, but is a [choice](crate::Run::choices) among all
/// waiters. Waking is ordered after the notification and races with nothing.
///
/// Dependent pairs: notifications with notifications and with beginnings to wait.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    notification: Option<Moment>,
    /// The activities that have begun to wait since.
    waits: Latest,
    /// The last notification that woke each activity.
    woken: Latest,
}

impl Conditions {
    /// Links of beginning to wait.
    pub fn link_wait(&self, links: &mut Links) {
        if let Some(notification) = self.notification {
            links.races(notification);
        }
    }

    /// Links of a notification.
    pub fn link_notify(&self, links: &mut Links) {
        if self.waits.is_empty() {
            self.link_wait(links);
        }
        self.waits.link_races(links);
    }

    /// Links of waking.
    pub fn link_wake(&self, activity: Activity, links: &mut Links) {
        if let Some(notification) = self.woken.get(activity) {
            links.follows(notification);
        }
    }

    /// Records that an activity begins to wait.
    pub fn wait(&mut self, activity: Activity, moment: Moment) {
        self.waits.set(activity, moment);
    }

    /// Records a notification that wakes these activities, if any.
    pub fn notify(&mut self, moment: Moment, woken: impl IntoIterator<Item = Activity>) {
        self.notification = Some(moment);
        self.waits.clear();
        for activity in woken {
            self.woken.set(activity, moment);
        }
    }
}
