//! The phaser itself: what is counted, and what happens between one phase and the next.

use std::{fmt, mem, sync::Arc, time::Instant};

use reenact_engine::{Access, Latch, Op, choose_at};

use crate::{Party, ops, ordered::Ordered};

/// A barrier that parties join and leave as they like. A clone is another handle of the same phaser.
#[derive(Clone)]
pub struct Phaser {
    state: Arc<Ordered<State>>,
}

struct State {
    /// The current phase.
    phase: u64,
    parties: usize,
    /// How many of them have not arrived yet.
    missing: usize,
    /// That the current phase is over. Another one for each.
    over: Arc<Latch>,
    action: Box<dyn FnMut(u64, usize) + Send>,
}

/// A phase is over when this is dropped.
struct Ending(Arc<Latch>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.establish();
    }
}

impl Phaser {
    /// A phaser that has no parties yet.
    #[must_use]
    #[track_caller]
    pub fn new() -> Phaser {
        Phaser::with_action(|_, _| ())
    }

    /// With something to do between one phase and the next: `action` is called with the phase that ends and the number of
    /// parties, by whoever arrives last. It must not use the phaser.
    #[must_use]
    #[track_caller]
    pub fn with_action(action: impl FnMut(u64, usize) + Send + 'static) -> Phaser {
        let state = State {
            phase: 0,
            parties: 0,
            missing: 0,
            over: Arc::default(),
            action: Box::new(action),
        };
        Phaser {
            state: Arc::new(Ordered::new(state)),
        }
    }

    /// A new party. The current phase is its first.
    #[must_use = "a party that is dropped does not take part"]
    #[track_caller]
    pub fn register(&self) -> Party {
        let phase = self.step(ops::REGISTER, |state| {
            state.parties += 1;
            state.missing += 1;
            state.phase
        });
        Party::new(self.clone(), phase)
    }

    /// A party has arrived at the end of the current phase: whether it was the last, and by what it knows that the phase
    /// is over.
    #[track_caller]
    pub(crate) fn arrive(&self) -> (bool, Arc<Latch>) {
        self.step(ops::ARRIVE, |state| {
            state.missing -= 1;
            (state.missing == 0, Arc::clone(&state.over))
        })
    }

    /// Whether a phase is over by then, which depends on the steps that are taken meanwhile.
    #[track_caller]
    pub(crate) fn is_over_by(&self, over: &Latch, deadline: Option<Instant>) -> bool {
        choose_at(ops::IS_OVER, self.state.object(), Access::Read, 1, || {
            // A deadline past what the clock can say is none.
            deadline
                .is_none_or(|deadline| over.wait_until(deadline))
                .into()
        }) != 0
    }

    /// A party goes, of which `phase` would have been the next to arrive at.
    #[track_caller]
    pub(crate) fn leave(&self, phase: u64) {
        self.step(ops::LEAVE, |state| {
            state.parties -= 1;
            if phase == state.phase {
                state.missing -= 1;
            }
        });
    }

    /// A step that parties take one after the other. If it was the last of a phase, the next one begins.
    #[track_caller]
    fn step<R>(&self, op: Op, step: impl FnOnce(&mut State) -> R) -> R {
        // Dropped when everybody else may take a step again, or they would wake only to wait for that; and if the action
        // panics, too.
        let _ending;
        let mut state = self.state.enter(op);
        let result = step(&mut state);
        if state.is_complete() {
            let phase = state.phase;
            _ending = state.begin_next();
            let State {
                action, parties, ..
            } = &mut *state;
            action(phase, *parties);
        }
        result
    }
}

impl State {
    fn is_complete(&self) -> bool {
        self.missing == 0 && self.parties > 0
    }

    fn begin_next(&mut self) -> Ending {
        self.phase += 1;
        self.missing = self.parties;
        Ending(mem::take(&mut self.over))
    }
}

impl Default for Phaser {
    #[track_caller]
    fn default() -> Phaser {
        Phaser::new()
    }
}

impl fmt::Debug for Phaser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Phaser").finish_non_exhaustive()
    }
}
