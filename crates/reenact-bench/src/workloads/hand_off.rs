//! Two threads take turns over the same locks: as many surprises as one wants, at a steady rate.
//!
//! In its turn a thread goes ten times over all locks. The first pass meets locks that the other
//! thread held last, which recording has to write; the nine others are as predicted. So a tenth of
//! the operations reach the trace, however long the run, and the trace grows in proportion to it.
//! That is what the `replay-memory` bench needs.

use super::{
    Measured, Setting,
    sync::{Arc, Condvar, Mutex},
    thread,
};

const THREADS: u64 = 2;
const LOCKS: u64 = 4_096;
const PASSES: u64 = 10;
/// At least 10 million operations at scale 1.
const TURNS_EACH: u64 = 123;

/// The threads alternate until each had its turns.
pub(super) fn run(setting: &Setting) -> Measured {
    let turns = setting.times(TURNS_EACH);
    let table = Arc::new(Table {
        locks: (0..LOCKS).map(|_| Mutex::new(0)).collect(),
        turn: Mutex::new(0),
        changed: Condvar::new(),
    });
    let measured = Measured::around(|| {
        let threads: Vec<_> = (0..THREADS)
            .map(|me| {
                let table = Arc::clone(&table);
                thread::spawn(move || table.play(me, turns))
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    for lock in &table.locks {
        assert_eq!(*lock.lock().unwrap(), THREADS * turns * PASSES);
    }
    measured
}

struct Table {
    locks: Vec<Mutex<u64>>,
    turn: Mutex<u64>,
    changed: Condvar,
}

impl Table {
    fn play(&self, me: u64, turns: u64) -> u64 {
        let mut ops = 0;
        for _ in 0..turns {
            let mut turn = self.turn.lock().unwrap();
            ops += 1;
            while *turn % THREADS != me {
                turn = self.changed.wait(turn).unwrap();
                ops += 1;
            }
            drop(turn);
            for _ in 0..PASSES {
                for lock in &self.locks {
                    *lock.lock().unwrap() += 1;
                }
            }
            *self.turn.lock().unwrap() += 1;
            ops += PASSES * LOCKS + 1;
            self.changed.notify_one();
        }
        ops
    }
}

#[cfg(test)]
mod tests {
    use super::{LOCKS, PASSES, Setting, run};

    #[test]
    fn both_threads_reach_every_lock_in_every_turn() {
        assert!(run(&Setting::tiny()).ops >= 2 * LOCKS * PASSES);
    }
}
