//! Probabilistic concurrency testing: priorities, and few points at which one of them is lowered.
//!
//! A failure has depth d if d orderings between pairs of events make it happen. Random priorities give the first, each
//! point at which whoever is about to go on gets a lower priority than all others gives another one. With n activities
//! and k steps, an execution meets a failure of depth d with a probability of at least 1/(n·k^(d−1)).

use super::random::Random;
use crate::Activity;

/// Priorities of those who compete, whatever they are, and the points at which they change.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    /// 0 if there is none yet. Those at the start are above all that come later.
    of: Vec<u64>,
    /// The step before which a priority is lowered. The later in this list, the lower.
    changes: Vec<u64>,
    taken: u64,
    /// Of the longest execution so far.
    length: u64,
    depth: u32,
}

const AT_START: u64 = 1 << 63;

impl Priorities {
    pub(super) fn new(depth: u32) -> Self {
        Priorities {
            of: Vec::new(),
            changes: Vec::new(),
            taken: 0,
            length: 0,
            depth,
        }
    }

    pub(super) fn begin(&mut self, random: &mut Random) {
        self.of.clear();
        self.taken = 0;
        self.changes.clear();
        if self.length > 0 {
            let length = self.length;
            let changes = (1..self.depth).map(|_| random.below(length));
            self.changes.extend(changes);
        }
    }

    /// The enabled one with the highest priority. `who` says as whom an activity competes.
    #[inline]
    pub(super) fn choose(
        &mut self,
        enabled: &[Activity],
        who: impl Fn(Activity) -> usize,
        random: &mut Random,
    ) -> Activity {
        let mut chosen = self.highest(enabled, &who, random);
        for index in 0..self.changes.len() {
            if self.changes[index] == self.taken {
                self.of[who(chosen)] = (self.changes.len() - index) as u64;
                chosen = self.highest(enabled, &who, random);
            }
        }
        self.taken += 1;
        chosen
    }

    #[inline]
    fn highest(
        &mut self,
        enabled: &[Activity],
        who: &impl Fn(Activity) -> usize,
        random: &mut Random,
    ) -> Activity {
        let (mut chosen, mut highest) = (enabled[0], 0);
        for &activity in enabled {
            let who = who(activity);
            if self.of.len() <= who {
                self.of.resize(who + 1, 0);
            }
            if self.of[who] == 0 {
                self.of[who] = random.next() | AT_START;
            }
            if self.of[who] > highest {
                (chosen, highest) = (activity, self.of[who]);
            }
        }
        chosen
    }

    pub(super) fn learn(&mut self, steps: usize) {
        self.length = self.length.max(steps as u64);
    }
}
