//! Quicksort in parallel, in place, with borrowed slices.

use super::sync::atomic::{AtomicIsize, AtomicU64, Ordering::*};
use super::sync::{Barrier, RwLock};
use super::thread::{available_parallelism, scope};
use std::num::NonZeroUsize;

/// Tickets for further threads.
struct Budget(AtomicIsize);

impl Budget {
    fn take(&self) -> bool {
        self.0
            .fetch_update(AcqRel, Acquire, |left| {
                if left > 0 { Some(left - 1) } else { None }
            })
            .is_ok()
    }

    fn give_back(&self) {
        self.0.fetch_add(1, AcqRel);
    }
}

fn partition<T: Ord>(slice: &mut [T]) -> usize {
    let last = slice.len() - 1;
    slice.swap(slice.len() / 2, last);
    let mut store = 0;
    for i in 0..last {
        if slice[i] < slice[last] {
            slice.swap(i, store);
            store += 1;
        }
    }
    slice.swap(store, last);
    store
}

fn quicksort<T: Ord + Send>(slice: &mut [T], budget: &Budget, spawned: &AtomicU64) {
    if slice.len() < 2 {
        return;
    }
    let pivot = partition(slice);
    let (left, right) = slice.split_at_mut(pivot);
    let right = &mut right[1..];
    if left.len() > 16 && budget.take() {
        spawned.fetch_add(1, Relaxed);
        scope(|s| {
            s.spawn(|| {
                quicksort(left, budget, spawned);
                budget.give_back();
            });
            quicksort(right, budget, spawned);
        });
    } else {
        quicksort(left, budget, spawned);
        quicksort(right, budget, spawned);
    }
}

pub fn run() -> (String, String) {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get).max(2);
    let spawned = AtomicU64::new(0);
    let budget = Budget(AtomicIsize::new(cores as isize));
    let mut numbers: Vec<u64> = (0..3000u64).map(|n| n * 7919 % 3001).collect();
    quicksort(&mut numbers, &budget, &spawned);

    // Two readers check it together, and a barrier decides which came last.
    let (gate, checked) = (Barrier::new(2), RwLock::new(numbers));
    let (mut sorted, mut last) = (true, 9);
    scope(|s| {
        let check = |me: usize| {
            let (gate, checked) = (&gate, &checked);
            move || {
                let leader = gate.wait().is_leader();
                let numbers = checked.read().unwrap();
                (
                    leader.then_some(me),
                    numbers.windows(2).all(|pair| pair[0] <= pair[1]),
                )
            }
        };
        for handle in [s.spawn(check(0)), s.spawn(check(1))] {
            let (leader, all) = handle.join().unwrap();
            sorted &= all;
            last = leader.unwrap_or(last);
        }
    });
    let sum: u64 = checked.into_inner().unwrap().iter().sum();
    (
        format!("{sorted} {sum}"),
        format!("{spawned:?} threads, {last} was last"),
    )
}
