//! Conditions that become true once and stay true.

use super::Latest;
use crate::{Activity, Links, Moment};

/// The order of setting a latch, such as resolving a promise, and of querying it.
///
/// # Nondeterminism
///
/// Setting races with the earlier queries. A later query races with the set, and so does setting again. Queries
/// commute. A wait for the latch is ordered after the set and races with nothing.
///
/// Dependent pairs: sets with sets and with queries. A set that was not the first turns out to be a query.
#[derive(Clone, Debug, Default)]
pub struct Latches {
    truth: Option<Moment>,
    questions: Latest,
}

impl Latches {
    /// Links of a query.
    pub fn link_ask(&self, links: &mut Links) {
        if let Some(truth) = self.truth {
            links.races(truth);
        }
    }

    /// Links of a set.
    pub fn link_set(&self, links: &mut Links) {
        self.link_ask(links);
        self.questions.link_races(links);
    }

    /// Links of the end of a wait.
    pub fn link_wait(&self, links: &mut Links) {
        if let Some(truth) = self.truth {
            links.follows(truth);
        }
    }

    /// Records a query. Queries after the set are not recorded.
    pub fn ask(&mut self, activity: Activity, moment: Moment) {
        if self.truth.is_none() {
            self.questions.set(activity, moment);
        }
    }

    /// Records a set, if it is the first.
    pub fn set(&mut self, moment: Moment) {
        self.truth.get_or_insert(moment);
        self.questions.clear();
    }
}
