//! Variables.

use super::Latest;
use crate::{Activity, Links, Moment};

/// The order of accesses to a variable.
///
/// # Nondeterminism
///
/// A write races with the reads since the previous write, or with that write if there were none. A read races with the
/// write that it sees. Reads commute. A read-modify-write, such as an atomic addition, is a write.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    write: Option<Moment>,
    /// The reads since `write`.
    reads: Latest,
}

impl Accesses {
    /// Links of a read.
    pub fn link_read(&self, links: &mut Links) {
        if let Some(write) = self.write {
            links.races(write);
        }
    }

    /// Links of a write.
    pub fn link_write(&self, links: &mut Links) {
        if self.reads.is_empty() {
            self.link_read(links);
        }
        self.reads.link_races(links);
    }

    /// Records a read.
    pub fn read(&mut self, activity: Activity, moment: Moment) {
        self.reads.set(activity, moment);
    }

    /// Records a write.
    pub fn write(&mut self, moment: Moment) {
        self.write = Some(moment);
        self.reads.clear();
    }
}
