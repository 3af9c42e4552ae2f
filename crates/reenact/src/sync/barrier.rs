//! `Barrier`: built on a recorded lock and condition variable, which record all that can differ between runs.

use std::fmt;

use super::{Condvar, Mutex};
use crate::ops;

/// Lets several threads wait for each other: [`std::sync::Barrier`], recorded.
pub struct Barrier {
    state: Mutex<State>,
    everybody: Condvar,
    threads: usize,
}

struct State {
    waiting: usize,
    generation: usize,
}

/// Whether a thread was the last to arrive.
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// Creates a barrier for `n` threads.
    #[must_use]
    #[track_caller]
    pub const fn new(n: usize) -> Barrier {
        Barrier {
            state: Mutex::new(State {
                waiting: 0,
                generation: 0,
            }),
            everybody: Condvar::new(),
            threads: n,
        }
    }

    /// Waits until all threads have arrived.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let state = self.state.lock_as(ops::ARRIVE_AT_BARRIER);
        let mut state = state.expect("nothing panics in here");
        let generation = state.generation;
        state.waiting += 1;
        if state.waiting < self.threads {
            while state.generation == generation {
                let waits = [ops::WAIT_AT_BARRIER, ops::PASS_BARRIER];
                let waited = self.everybody.wait_as(waits, state);
                state = waited.expect("nothing panics in here");
            }
            BarrierWaitResult(false)
        } else {
            state.waiting = 0;
            state.generation = state.generation.wrapping_add(1);
            self.everybody.notify_all_as(ops::OPEN_BARRIER);
            BarrierWaitResult(true)
        }
    }
}

impl BarrierWaitResult {
    /// Whether this thread is the leader: exactly one of them is.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult")
            .field("is_leader", &self.is_leader())
            .finish()
    }
}
