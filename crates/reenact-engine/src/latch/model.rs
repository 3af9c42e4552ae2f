//! loom runs a latch in all ways.

use std::sync::Arc;

use ::loom::cell::Cell;

use super::Latch;
use crate::loom::{model, spawn};

struct Shared(Latch, Cell<u32>);

// SAFETY: loom reports accesses of the cell that are not ordered, instead of performing them.
unsafe impl Sync for Shared {}

/// All that wait are woken, and see what came before.
///
/// ```text
/// waiters (two)  wait ............ read
/// main           write, establish
/// ```
#[test]
fn all_that_wait_for_a_latch_are_woken_and_see_what_came_before() {
    // Three threads: two preemptions get between any two steps of a waiter and of the one that it waits for.
    crate::loom::model_bounded(Some(2), || {
        let shared = Arc::new(Shared(Latch::default(), Cell::new(0)));
        crate::raw::wake_all(&shared.0.state);
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                spawn(move || {
                    shared.0.wait(&String::new);
                    assert_eq!(shared.1.get(), 1);
                })
            })
            .collect();
        shared.1.set(1);
        shared.0.establish();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn one_that_waits_for_a_latch_is_woken() {
    model(|| {
        let shared = Arc::new(Shared(Latch::default(), Cell::new(0)));
        crate::raw::wake_all(&shared.0.state);
        let other = Arc::clone(&shared);
        let other = spawn(move || {
            other.1.set(1);
            other.0.establish();
        });
        shared.0.wait(&String::new);
        assert_eq!(shared.1.get(), 1);
        other.join().unwrap();
    });
}
