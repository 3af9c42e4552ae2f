//! A party: the right, and the duty, to arrive at every phase.

use std::{fmt, sync::Arc, time::Duration};

use reenact_engine::{Latch, raw::now};

use crate::Phaser;

/// One of those for whom a phaser waits, until it is dropped.
pub struct Party {
    phaser: Phaser,
    /// At whose end it arrives next.
    phase: u64,
    /// That the one before is over, if nobody has waited for that yet.
    over: Option<Arc<Latch>>,
}

impl Party {
    pub(crate) fn new(phaser: Phaser, phase: u64) -> Party {
        Party {
            phaser,
            phase,
            over: None,
        }
    }

    /// The phase at whose end it arrives next.
    #[must_use]
    pub fn phase(&self) -> u64 {
        self.phase
    }

    /// It has arrived at the end of the phase. Does not wait for the others, unless it is a whole phase ahead of them.
    /// Returns whether it was the last.
    #[track_caller]
    pub fn arrive(&mut self) -> bool {
        self.wait();
        // First, because an action may panic, and it has arrived all the same.
        self.phase += 1;
        let (is_last, over) = self.phaser.arrive();
        self.over = Some(over);
        is_last
    }

    /// Waits until the phase at whose end it has arrived is over.
    pub fn wait(&mut self) {
        if let Some(over) = self.over.take() {
            over.wait(&|| format!("phase {} to be over", self.phase - 1));
        }
    }

    /// As [`Party::wait`], for so long at most. Returns whether the phase is over.
    #[track_caller]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let Some(over) = &self.over else {
            return true;
        };
        let is_over = self.phaser.is_over_by(over, now().checked_add(timeout));
        if is_over {
            self.wait();
        }
        is_over
    }

    /// Arrives and waits for the others. Returns whether it was the last.
    #[track_caller]
    pub fn arrive_and_wait(&mut self) -> bool {
        let is_last = self.arrive();
        self.wait();
        is_last
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        self.phaser.leave(self.phase);
    }
}

impl fmt::Debug for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Party")
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}
