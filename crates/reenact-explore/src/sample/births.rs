//! Tracks which activities have started.

use crate::{Activity, Run};

/// The activities that have had a pending operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Births {
    is_born: Vec<bool>,
    /// How many of the numbers so far belong to an activity that has not yet started.
    missing: usize,
}

impl Births {
    /// Resets to no activity started.
    pub(super) fn clear(&mut self) {
        self.is_born.clear();
        self.missing = 0;
    }

    /// Calls `born` for each activity that has started since the last call. Costs nothing while every activity has
    /// started.
    #[inline]
    pub(super) fn look(&mut self, run: &impl Run, born: impl FnMut(Activity)) {
        if self.missing > 0 || self.is_born.len() < run.activities() as usize {
            self.look_for(run, born);
        }
    }

    fn look_for(&mut self, run: &impl Run, mut born: impl FnMut(Activity)) {
        self.is_born.resize(run.activities() as usize, false);
        self.missing = 0;
        for (number, is_born) in (0..).zip(&mut self.is_born) {
            if !*is_born {
                *is_born = run.pending(Activity(number)).is_some();
                if *is_born {
                    born(Activity(number));
                } else {
                    self.missing += 1;
                }
            }
        }
    }
}
