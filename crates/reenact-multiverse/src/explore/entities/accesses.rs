//! Variables.

use super::Latest;
use crate::{
    Activity,
    explore::{Links, Moment},
};

/// The order of accesses to a variable.
///
/// # Nondeterminism
///
/// A write races with the reads since the write before it, or with that write if there were none. A read races with the
/// write that it sees. Reads commute. What reads and writes in one step, such as an atomic addition, is a write.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    write: Option<Moment>,
    /// Since then.
    reads: Latest,
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
        self.reads.link_races(links);
    }

    /// It is read.
    pub fn read(&mut self, activity: Activity, moment: Moment) {
        self.reads.set(activity, moment);
    }

    /// It is written.
    pub fn write(&mut self, moment: Moment) {
        self.write = Some(moment);
        self.reads.clear();
    }
}
