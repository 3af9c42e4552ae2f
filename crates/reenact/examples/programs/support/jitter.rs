//! Little delays that differ from run to run, and from a run to its replays: they change when something happens, never
//! what is computed.

use std::{
    cell::Cell,
    hash::{BuildHasher, RandomState},
};

thread_local! {
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0) | 1);
}

/// Most of the time nothing, sometimes a few hundred nanoseconds, sometimes somebody else's turn on this core.
pub(crate) fn jitter() {
    let random = STATE.with(|state| {
        state.set(step(state.get()));
        state.get() >> 32
    });
    match random % 16 {
        0 => std::thread::yield_now(),
        1 | 2 => (0..random % 256).for_each(|_| std::hint::spin_loop()),
        _ => {}
    }
}

/// The next of a row of numbers that look random: xorshift.
fn step(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ state << 17
}

/// Numbers that look random and are the same in every run: what the programs choose by.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: usize) -> Dice {
        Dice((seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `below`.
    pub(crate) fn roll(&mut self, below: usize) -> usize {
        self.0 = step(self.0);
        (self.0 >> 32) as usize % below
    }
}
