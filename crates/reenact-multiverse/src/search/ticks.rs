//! Checks the time and reports progress at intervals of some universes.

use std::time::Duration;

use reenact_explore::{Interruption, Listener, ProgressReporter};

use super::{Bound, SearchProgress};

/// The number of universes between two checks: reading the clock for each of them would take a noticeable time.
const TICKS: u32 = 32;

/// Checks the time bound and calls the progress listener.
pub(super) struct Ticks<'a> {
    time: Option<Duration>,
    reporter: ProgressReporter<'a, SearchProgress>,
    ticks: u32,
}

impl<'a> Ticks<'a> {
    pub(super) fn new(
        time: Option<Duration>,
        listener: Option<Box<Listener<'a, SearchProgress>>>,
    ) -> Self {
        let mut reporter = ProgressReporter::default();
        reporter.listener = listener;
        reporter.start();
        Ticks {
            time,
            reporter,
            ticks: 0,
        }
    }

    /// Called for every universe. Calls `progress` only if it is needed.
    #[inline]
    pub(super) fn tick(&mut self, progress: impl FnOnce() -> SearchProgress) -> Result<(), Bound> {
        let is_due = self.ticks.is_multiple_of(TICKS);
        self.ticks = self.ticks.wrapping_add(1);
        match is_due {
            true => self.check(progress),
            false => Ok(()),
        }
    }

    /// Called after longer work.
    pub(super) fn check(&mut self, progress: impl FnOnce() -> SearchProgress) -> Result<(), Bound> {
        let checked = self.reporter.check(self.time, progress);
        checked.map_err(|interruption| match interruption {
            Interruption::Time(time) => Bound::Time(time),
            Interruption::Cancelled => Bound::Cancelled,
        })
    }
}
