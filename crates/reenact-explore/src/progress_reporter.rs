//! Checks the time of an exploration or a search, and reports its progress to a listener.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// The minimum time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// A listener for progress. Returning [`ControlFlow::Break`] cancels what makes the progress.
pub type Listener<'a, P> = dyn FnMut(P) -> ControlFlow<()> + 'a;

/// Why something has to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The time was up.
    Time(Duration),
    /// The listener cancelled it.
    Cancelled,
}

/// Checks the time and calls the listener with progress of type `P`, at the start and then at most once every 20 ms.
pub struct ProgressReporter<'a, P> {
    /// The listener, if there is one.
    pub listener: Option<Box<Listener<'a, P>>>,
    began: Option<Instant>,
    reported: Option<Instant>,
}

impl<P> Default for ProgressReporter<'_, P> {
    fn default() -> Self {
        ProgressReporter {
            listener: None,
            began: None,
            reported: None,
        }
    }
}

impl<P> ProgressReporter<'_, P> {
    /// Starts the time. Otherwise it starts with the first check.
    pub fn start(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Returns an error if more than `time` has passed, or if the listener cancels. Calls `progress` only if a report
    /// is due. Reads no clock if there is neither a time nor a listener.
    #[inline]
    pub fn check(
        &mut self,
        time: Option<Duration>,
        progress: impl FnOnce() -> P,
    ) -> Result<(), Interruption> {
        if time.is_none() && self.listener.is_none() {
            return Ok(());
        }
        self.check_now(time, progress)
    }

    fn check_now(
        &mut self,
        time: Option<Duration>,
        progress: impl FnOnce() -> P,
    ) -> Result<(), Interruption> {
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        if let Some(time) = time
            && now - began >= time
        {
            return Err(Interruption::Time(time));
        }
        if let Some(listener) = &mut self.listener
            && self.reported.is_none_or(|last| now - last >= REPORT_EVERY)
        {
            self.reported = Some(now);
            if listener(progress()).is_break() {
                return Err(Interruption::Cancelled);
            }
        }
        Ok(())
    }
}
