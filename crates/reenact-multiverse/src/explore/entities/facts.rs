//! What becomes true once, and stays so.

use super::Latest;
use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of something that becomes true, such as that a promise is resolved, and of questions whether it is.
///
/// # Nondeterminism
///
/// To make it true races with the questions before. A question afterwards races with what made it true, and so does
/// making it true again. Questions commute. To wait until it is true comes after what made it true and races with nothing.
///
/// Dependent are: making it true with making it true and with questions. Making it true again is in hindsight a question.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    truth: Option<Moment>,
    questions: Latest,
}

impl Facts {
    /// What a question would race with.
    pub fn link_ask(&self, links: &mut Links) {
        if let Some(truth) = self.truth {
            links.races(truth);
        }
    }

    /// What making it true would race with.
    pub fn link_set(&self, links: &mut Links) {
        self.link_ask(links);
        self.questions.link_races(links);
    }

    /// What the end of waiting for it comes after.
    pub fn link_wait(&self, links: &mut Links) {
        if let Some(truth) = self.truth {
            links.follows(truth);
        }
    }

    /// Somebody asks. Afterwards it need not be noted.
    pub fn ask(&mut self, activity: Activity, moment: Moment) {
        if self.truth.is_none() {
            self.questions.set(activity, moment);
        }
    }

    /// It is true, if it was not yet.
    pub fn set(&mut self, moment: Moment) {
        self.truth.get_or_insert(moment);
        self.questions.clear();
    }
}
