//! Checks the time and reports progress at intervals.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{Bound, Listener, Progress};

/// The number of universes between two checks.
const TICKS: u32 = 32;
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// Checks the time bound and calls the progress listener.
pub(super) struct ProgressReporter<'a> {
    began: Instant,
    time: Option<Duration>,
    listener: Option<Box<Listener<'a>>>,
    told: Option<Instant>,
    ticks: u32,
}

impl<'a> ProgressReporter<'a> {
    pub(super) fn new(time: Option<Duration>, listener: Option<Box<Listener<'a>>>) -> Self {
        ProgressReporter {
            began: Instant::now(),
            time,
            listener,
            told: None,
            ticks: 0,
        }
    }

    /// Called for every universe. Calls `progress` only if it is needed.
    #[inline]
    pub(super) fn beat(&mut self, progress: impl FnOnce() -> Progress) -> Result<(), Bound> {
        let is_due = self.ticks.is_multiple_of(TICKS);
        self.ticks = self.ticks.wrapping_add(1);
        if is_due && (self.time.is_some() || self.listener.is_some()) {
            self.look_up(progress())
        } else {
            Ok(())
        }
    }

    /// Called after longer work.
    pub(super) fn look_up(&mut self, progress: Progress) -> Result<(), Bound> {
        let now = Instant::now();
        if let Some(time) = self.time
            && now - self.began >= time
        {
            return Err(Bound::Time(time));
        }
        if let Some(listener) = &mut self.listener
            && self.told.is_none_or(|told| now - told >= REPORT_EVERY)
        {
            self.told = Some(now);
            if let ControlFlow::Break(()) = listener(progress) {
                return Err(Bound::Cancelled);
            }
        }
        Ok(())
    }
}
