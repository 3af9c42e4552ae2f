//! Which activities have begun.

use crate::{Activity, explore::Run};

/// Who has been seen with something to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Births {
    is_born: Vec<bool>,
    /// How many of the numbers so far belong to nobody yet.
    missing: usize,
}

impl Births {
    /// Nobody has begun.
    pub(super) fn clear(&mut self) {
        self.is_born.clear();
        self.missing = 0;
    }

    /// Tells who has begun since the last time. Costs nothing as long as everyone has.
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
