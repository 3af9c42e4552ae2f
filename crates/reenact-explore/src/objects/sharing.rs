//! Reader-writer locks.

use crate::{Activity, Links, Moment};

/// The order of operations on something that either several readers or one writer hold: a reader-writer lock.
///
/// # Nondeterminism
///
/// A read lock is ordered after the last writer, and races with its write lock. A write lock is ordered after all
/// readers, and races with each read lock. Read locks commute. Unlocking and downgrading race with nothing.
///
/// Dependent pairs: write locks with write locks and with read locks.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    take: Option<Moment>,
    /// The release of the last write lock.
    release: Option<Moment>,
    /// The last read lock of each activity since.
    looks: Vec<Look>,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    activity: Activity,
    begin: Moment,
    end: Option<Moment>,
    /// How many nested read locks the activity holds.
    depth: u32,
}

impl Sharing {
    /// Links of a read lock. It may have to wait.
    pub fn link_look(&self, links: &mut Links) {
        if let Some(take) = self.take {
            links.outside(take, self.release);
        }
    }

    /// Links of a write lock. It may have to wait.
    pub fn link_take(&self, links: &mut Links) {
        if self.looks.is_empty() {
            self.link_look(links);
        }
        for look in &self.looks {
            links.outside(look.begin, look.end);
        }
    }

    /// Links of an unlock, by a reader or a writer.
    pub fn link_leave(&self, activity: Activity, links: &mut Links) {
        let look = self.looks.iter().find(|look| look.activity == activity);
        if let Some(begin) = look.map(|look| look.begin).or(self.take) {
            links.after(begin);
        }
    }

    /// Records a read lock.
    pub fn look(&mut self, activity: Activity, moment: Moment) {
        let look = Look {
            activity,
            begin: moment,
            end: None,
            depth: 1,
        };
        match self.looks.iter_mut().find(|look| look.activity == activity) {
            Some(old) if old.end.is_none() => old.depth += 1,
            Some(old) => *old = look,
            None => self.looks.push(look),
        }
    }

    /// Records a write lock.
    pub fn take(&mut self, moment: Moment) {
        self.take = Some(moment);
        self.release = None;
        self.looks.clear();
    }

    /// Records that the writer becomes a reader.
    pub fn downgrade(&mut self, activity: Activity, moment: Moment) {
        self.release = Some(moment);
        self.looks.push(Look {
            activity,
            begin: self.take.unwrap_or(moment),
            end: None,
            depth: 1,
        });
    }

    /// Records an unlock, by a reader or a writer.
    pub fn leave(&mut self, activity: Activity, moment: Moment) {
        match self.looks.iter_mut().find(|look| look.activity == activity) {
            Some(look) => {
                look.depth -= 1;
                look.end = (look.depth == 0).then_some(moment);
            }
            None => self.release = Some(moment),
        }
    }
}
