//! The oracle: a replay prints what the recording printed, ends as it ended and leaves no report, with any number of
//! workers. While it runs it makes the same trace again, or says that it does not.

use std::sync::Arc;

use reenact_trace::Trace;

use crate::support::stage::{Outcome, Program, Stage};

type Start = Box<dyn for<'a> Fn(&'a Stage, usize) -> Program<'a>>;

/// A recorded program.
pub(crate) struct Recording {
    stage: Stage,
    start: Start,
    /// How the recorded run went.
    pub(crate) outcome: Outcome,
}

impl Recording {
    /// Records the program that `start` makes for so many workers, and checks the trace.
    #[track_caller]
    pub(crate) fn of(
        workers: usize,
        start: impl for<'a> Fn(&'a Stage, usize) -> Program<'a> + 'static,
    ) -> Recording {
        let stage = Stage::new();
        let outcome = start(&stage, workers).record_completely();
        Recording {
            stage,
            start: Box::new(start),
            outcome,
        }
    }

    /// Replays it with so many workers.
    #[track_caller]
    pub(crate) fn replay(&self, workers: usize) {
        let replayed = (self.start)(&self.stage, workers).replay();
        replayed.is_same_as(&self.outcome);
    }

    /// The trace.
    pub(crate) fn trace(&self) -> Arc<Trace> {
        self.stage.open()
    }
}
