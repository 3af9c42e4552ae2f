//! Those who wait to be notified.

use super::Latest;
use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of waits and notifications.
///
/// # Nondeterminism
///
/// A notification races with whoever has begun to wait since the one before it, or with that one if nobody has. To begin
/// to wait races with the last notification. Those who begin to wait commute: whom a notification wakes does not depend on
/// who came first, but is a [choice](crate::explore::Run::choices) among all who wait. To wake comes after the notification
/// and races with nothing.
///
/// Dependent are: notifications with notifications and with beginnings to wait.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    notification: Option<Moment>,
    /// Who has begun to wait since.
    waits: Latest,
    /// By which notification each was woken the last time.
    woken: Latest,
}

impl Conditions {
    /// What beginning to wait would race with.
    pub fn link_wait(&self, links: &mut Links) {
        if let Some(notification) = self.notification {
            links.races(notification);
        }
    }

    /// What a notification would race with.
    pub fn link_notify(&self, links: &mut Links) {
        if self.waits.is_empty() {
            self.link_wait(links);
        }
        self.waits.link_races(links);
    }

    /// What waking comes after.
    pub fn link_wake(&self, activity: Activity, links: &mut Links) {
        if let Some(notification) = self.woken.get(activity) {
            links.follows(notification);
        }
    }

    /// Somebody begins to wait.
    pub fn wait(&mut self, activity: Activity, moment: Moment) {
        self.waits.set(activity, moment);
    }

    /// These are woken, if any.
    pub fn notify(&mut self, moment: Moment, woken: impl IntoIterator<Item = Activity>) {
        self.notification = Some(moment);
        self.waits.clear();
        for activity in woken {
            self.woken.set(activity, moment);
        }
    }
}
