//! Now and then, a search looks up: at the clock, and at whoever listens.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use super::{Bound, Listener, Progress};

/// Every so many universes.
const TICKS: u32 = 32;
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// The beat of a search.
pub(super) struct Pulse<'a> {
    began: Instant,
    time: Option<Duration>,
    listener: Option<Box<Listener<'a>>>,
    told: Option<Instant>,
    ticks: u32,
}

impl<'a> Pulse<'a> {
    pub(super) fn new(time: Option<Duration>, listener: Option<Box<Listener<'a>>>) -> Self {
        Pulse {
            began: Instant::now(),
            time,
            listener,
            told: None,
            ticks: 0,
        }
    }

    /// To be called for every universe. `progress` is asked for only if somebody listens.
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

    /// To be called after more than a moment's work.
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
