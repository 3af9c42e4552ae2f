//! Poison that is seen and cleared without the lock.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Dice, jitter, panic_quietly, run_workers};

/// Three threads: some panic with the lock, others look for that, with the lock or without it, and make it good.
pub(crate) fn poison_and_clear<L: Send + Sync + 'static>(
    lock: L,
    panic_with: fn(&L),
    fails: fn(&L) -> bool,
    is_poisoned: fn(&L) -> bool,
    clear: fn(&L),
) {
    panic_quietly();
    let counts = run_workers(3, move |me| {
        let mut dice = Dice::new(me);
        let (mut asked, mut found) = (0, 0);
        for _ in 0..200 {
            match dice.roll(6) {
                0 => {
                    let _ = catch_unwind(AssertUnwindSafe(|| panic_with(&lock)));
                }
                1 => clear(&lock),
                2 => found += usize::from(fails(&lock)),
                _ => asked += usize::from(is_poisoned(&lock)),
            }
            jitter();
        }
        (asked, found)
    });
    println!("{counts:?}");
}
