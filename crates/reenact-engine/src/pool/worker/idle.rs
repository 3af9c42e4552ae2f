//! What a worker does when it has nothing to run: it takes tasks from elsewhere, and sleeps if there are none.

use std::{
    sync::atomic::{
        Ordering::{Relaxed, SeqCst},
        fence,
    },
    time::Duration,
};

use crossbeam_deque::{Steal, Stealer};

use super::{
    super::{Scheduled, sleepers::IdleMode},
    SPINS, Worker,
};
use crate::{controller, mode, raw::now};

/// A queue is worth stealing from if its worker needs at least this long for it. Shorter queues are better left alone:
/// many short turns that communicate are slower on two cores than on one.
const BACKLOG: Duration = Duration::from_micros(20);
/// How long the lookout sleeps between two inspections: at first, and at most.
const LOOKOUT: (Duration, Duration) = (Duration::from_micros(50), Duration::from_micros(800));
/// The maximum in a controlled process, where the stall detector must be able to see that no thread moves.
const CALM_LOOKOUT: Duration = Duration::from_millis(400);

impl Worker {
    pub(super) fn take_from_outside(&self) -> Option<Scheduled> {
        loop {
            match self.shared.injector.steal_batch_and_pop(&self.queue) {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Steals from a worker whose queue will take it long, at its speed since the last inspection, or that is stuck in
    /// one turn.
    pub(super) fn take_from_others(&self) -> Option<Scheduled> {
        let begun = self.shared.begun.load(SeqCst) as usize;
        if begun == 1 {
            return None;
        }
        let mut others = self.others.take();
        if others.len() + 1 < begun {
            others = (0..begun)
                .filter(|&index| index != self.index)
                .filter_map(|index| Some((index, self.shared.remotes[index].stealer()?)))
                .collect();
        }
        let now = now();
        let time = now.duration_since(self.seen_at.get());
        let is_long_ago = time >= BACKLOG;
        if is_long_ago {
            self.seen_at.set(now);
        }
        let mut seen = self.seen_runs.take();
        seen.resize(self.shared.remotes.len(), 0);
        let mut found = None;
        for (index, stealer) in &others {
            let remote = &self.shared.remotes[*index];
            let runs = remote.runs.load(Relaxed).wrapping_sub(seen[*index]);
            if is_long_ago {
                seen[*index] = seen[*index].wrapping_add(runs);
            }
            let is_blocked = remote.is_blocked.load(SeqCst);
            let stuck = is_blocked || (is_long_ago && runs == 0);
            let needs = time.as_nanos() * stealer.len() as u128 / u128::from(runs.max(1));
            found = if stuck || (is_long_ago && needs >= BACKLOG.as_nanos()) {
                self.steal(stealer)
            } else {
                None
            };
            // A single worker takes its own task without synchronisation: see `take_last`.
            let is_alone = self.shared.size == 1 && *index == 0;
            if found.is_none() && (is_blocked || (stuck && !is_alone)) {
                found = remote.take_last();
            }
            if found.is_some() {
                break;
            }
        }
        self.others.set(others);
        self.seen_runs.set(seen);
        found
    }

    pub(super) fn steal(&self, stealer: &Stealer<Scheduled>) -> Option<Scheduled> {
        loop {
            match stealer.steal_batch_and_pop(&self.queue) {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }

    /// Spins for a while until another thread wakes a carrier. The duration depends on whether spinning succeeded last
    /// time.
    pub(super) fn spin(&self) -> bool {
        if self.waiting.get() == 0 || !self.shared.spins {
            return false;
        }
        let spins = self.spins.get();
        for _ in 0..spins {
            if !self.remote().inbox.is_empty() {
                self.spins.set((spins * 2).min(SPINS.1));
                return true;
            }
            std::hint::spin_loop();
        }
        self.spins.set((spins / 2).max(SPINS.0));
        false
    }

    pub(super) fn is_up(&self) {
        self.remote().rests.store(false, SeqCst);
        self.remote().sleeps_until.store(false, SeqCst);
    }

    /// Sleeps until there is something to do.
    pub(super) fn rest(&self) {
        if self.spin() {
            return;
        }
        let shared = self.shared;
        let sleepers = &shared.sleepers;
        let mut patience = LOOKOUT.0;
        loop {
            let timer = self.next_deadline();
            self.remote().sleeps_until.store(timer.is_some(), SeqCst);
            self.remote().rests.store(true, SeqCst);
            let rest = sleepers.lie_down(self.index);
            if let IdleMode::Last = rest {
                shared.if_quiet();
            }
            controller::one_less_awake();
            // Threads that queued a task in between have not woken this worker. For the inbox, see `send_home`.
            fence(SeqCst);
            if self.is_done()
                || !shared.injector.is_empty()
                || !self.remote().inbox.is_surely_empty()
            {
                sleepers.get_up(self.index);
                self.is_up();
                return;
            }
            let woken = match rest {
                IdleMode::Last | IdleMode::Sleep => self.remote().parker.rest(timer),
                IdleMode::Lookout => {
                    let at_most = timer.map_or(patience, |timer| timer.min(patience));
                    let woken = self.remote().parker.rest(Some(at_most));
                    patience = (patience * 2).min(match mode::is_controlled() {
                        true => CALM_LOOKOUT,
                        false => LOOKOUT.1,
                    });
                    woken
                }
            };
            let was_roused = !sleepers.get_up(self.index);
            self.is_up();
            if woken || was_roused || timer.is_some() {
                return;
            }
            if let Some(task) = self.take_from_others() {
                self.queue.push(task);
                return;
            }
        }
    }
}
