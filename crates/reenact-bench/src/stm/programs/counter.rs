//! Threads that increment: one variable that all of them want, or one each.
//!
//! The first is nothing but conflicts. The second has none, and shows what transactions share that
//! have no variable in common.

use super::{Measured, Setting, THREADS, TVar, atomically, thread};

const INCREMENTS: u64 = 8_000_000;

/// All threads increment the same variable.
pub(super) fn shared(setting: &Setting) -> Measured {
    let threads = setting.threads_or(THREADS);
    let counter = TVar::new(0);
    let measured = increment(setting, vec![counter.clone(); threads]);
    assert_eq!(atomically(|tx| counter.read(tx)), measured.ops);
    measured
}

/// Every thread increments a variable of its own.
pub(super) fn own(setting: &Setting) -> Measured {
    let threads = setting.threads_or(THREADS);
    let counters: Vec<_> = (0..threads).map(|_| TVar::new(0)).collect();
    let measured = increment(setting, counters.clone());
    for counter in counters {
        let count = atomically(|tx| counter.read(tx));
        assert_eq!(count * threads as u64, measured.ops);
    }
    measured
}

/// A thread for each of these increments it, all of them equally often.
fn increment(setting: &Setting, counters: Vec<TVar<u64>>) -> Measured {
    let threads = counters.len() as u64;
    let each = setting.times(INCREMENTS / threads);
    Measured::around(|| {
        let running = counters.into_iter().map(|counter| {
            thread::spawn(move || {
                for _ in 0..each {
                    atomically(|tx| counter.modify(tx, |count| count + 1));
                }
            })
        });
        for thread in running.collect::<Vec<_>>() {
            thread.join().unwrap();
        }
        each * threads
    })
}
