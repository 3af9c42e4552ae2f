//! Probabilistic concurrency testing: priorities, and few points at which one of them is lowered.
//!
//! A failure has depth d if d orderings between pairs of events make it happen. Random initial priorities give the
//! first; each change point, at which the activity about to run gets a lower priority than all others, gives another
//! one. With n activities and k steps, an execution hits a failure of depth d with a probability of at least
//! 1/(n·k^(d−1)).

use super::random::Random;

/// Priorities of competitors (activities or chains), and the points at which they change.
#[derive(Clone, Debug)]
pub(super) struct Priorities {
    /// Priority by competitor. Initial priorities are above all that are assigned later.
    of: Vec<u64>,
    /// The competitors, highest priority first, so that `is_enabled` is called for few of them.
    order: Vec<usize>,
    /// The steps before which a priority is lowered. The later in this list, the lower.
    changes: Vec<u64>,
    taken: u64,
    /// The length of the longest execution so far.
    length: u64,
    depth: u32,
}

const AT_START: u64 = 1 << 63;

impl Priorities {
    pub(super) fn new(depth: u32) -> Self {
        Priorities {
            of: Vec::new(),
            order: Vec::new(),
            changes: Vec::new(),
            taken: 0,
            length: 0,
            depth,
        }
    }

    /// Starts an execution.
    pub(super) fn restart(&mut self, random: &mut Random) {
        self.of.clear();
        self.order.clear();
        self.taken = 0;
        self.changes.clear();
        if self.length > 0 {
            let length = self.length;
            let changes = (1..self.depth).map(|_| random.below(length));
            self.changes.extend(changes);
        }
    }

    /// Returns the enabled competitor with the highest priority, of `count` competitors.
    #[inline]
    pub(super) fn highest(
        &mut self,
        count: usize,
        is_enabled: impl Fn(usize) -> bool,
        random: &mut Random,
    ) -> Option<usize> {
        while self.of.len() < count {
            self.of.push(random.next() | AT_START);
            self.insert(self.of.len() - 1);
        }
        let highest = |order: &[usize]| order.iter().position(|&who| is_enabled(who));
        let mut at = highest(&self.order)?;
        for index in 0..self.changes.len() {
            if self.changes[index] == self.taken {
                self.lower(at, (self.changes.len() - index) as u64);
                at = highest(&self.order)?;
            }
        }
        self.taken += 1;
        Some(self.order[at])
    }

    // There are few competitors: moving them one by one is faster than a search and a call to move the rest.

    /// Adds a competitor to the order.
    fn insert(&mut self, who: usize) {
        let mut at = self.order.len();
        self.order.push(who);
        while at > 0 && self.of[self.order[at - 1]] <= self.of[who] {
            self.order[at] = self.order[at - 1];
            at -= 1;
        }
        self.order[at] = who;
    }

    /// Gives the competitor at this index of the order a lower priority.
    fn lower(&mut self, mut at: usize, priority: u64) {
        let who = self.order[at];
        self.of[who] = priority;
        while let Some(&next) = self.order.get(at + 1)
            && self.of[next] > priority
        {
            self.order[at] = next;
            at += 1;
        }
        self.order[at] = who;
    }

    pub(super) fn learn_length(&mut self, steps: usize) {
        self.length = self.length.max(steps as u64);
    }
}
