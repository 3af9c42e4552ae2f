//! Known numbers of executions.

use std::{collections::BTreeSet, sync::Arc, sync::Mutex as Plain};

use reenact::{
    sync::{Mutex, atomic::AtomicUsize, atomic::Ordering::SeqCst},
    thread,
};
use reenact_engine::explore::Explored;
use reenact_explore::{Explorer, Report};

/// Explores a program; what it did, and how often.
fn explore(program: impl Fn() + 'static) -> Report {
    let explored = Explored::new(Arc::new(program)).expect("nothing is recorded");
    let report = Explorer::of(&explored).run(|_| {});
    assert_eq!(report.progress.redundant, 0, "{report}");
    assert!(report.coverage.is_complete(), "{report}");
    report
}

fn threads(count: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let threads: Vec<_> = (0..count)
        .map(|me| {
            let body = Arc::clone(&body);
            thread::spawn(move || body(me))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_mutex_is_taken_in_every_order() {
    for (count, executions) in [(1, 2), (3, 20), (6, 924)] {
        let outcomes = Arc::new(Plain::new(BTreeSet::new()));
        let seen = Arc::clone(&outcomes);
        let report = explore(move || {
            let list = Arc::new(Mutex::new(Vec::new()));
            let shared = Arc::clone(&list);
            threads(2, move |me| {
                for _ in 0..count {
                    shared.lock().unwrap().push(me);
                }
            });
            let list = list.lock().unwrap().clone();
            seen.lock().unwrap().insert(list);
        });
        assert_eq!(report.progress.executions, executions);
        assert_eq!(outcomes.lock().unwrap().len() as u64, executions);
    }
}

#[test]
fn readers_see_a_write_or_not() {
    for count in 1..=6 {
        let report = explore(move || {
            let x = Arc::new(AtomicUsize::new(0));
            threads(count + 1, move |me| match me {
                0 => x.store(1, SeqCst),
                _ => {
                    x.load(SeqCst);
                }
            });
        });
        assert_eq!(report.progress.executions, 1 << count);
    }
}

#[test]
fn a_scan_finds_the_last_zero() {
    for (count, executions) in [(1, 2), (2, 5), (3, 12), (4, 28), (5, 64)] {
        let report = explore(move || {
            let array: Arc<Vec<_>> = Arc::new((0..=count).map(|_| AtomicUsize::new(0)).collect());
            threads(count + 1, move |me| match me {
                0 => {
                    let mut i = count;
                    while array[i].load(SeqCst) != 0 {
                        i -= 1;
                    }
                }
                j => array[j].store(array[j - 1].load(SeqCst) + 1, SeqCst),
            });
        });
        assert_eq!(report.progress.executions, executions);
    }
}

#[test]
fn two_threads_load_and_store() {
    for (count, executions) in [(1, 4), (2, 34), (3, 328)] {
        let report = explore(move || {
            let x = Arc::new(AtomicUsize::new(0));
            threads(2, move |_| {
                for _ in 0..count {
                    x.store(x.load(SeqCst) + 1, SeqCst);
                }
            });
        });
        assert_eq!(report.progress.executions, executions);
    }
}

#[test]
fn philosophers_starve_in_one_way() {
    for (count, executions) in [(2, 3), (3, 7)] {
        let report = explore(move || {
            let forks: Arc<Vec<_>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
            threads(count, move |me| {
                let _first = forks[me].lock().unwrap();
                let _second = forks[(me + 1) % count].lock().unwrap();
            });
        });
        assert_eq!(report.progress.executions, executions);
        assert_eq!(report.progress.deadlocks, 1);
    }
}

#[test]
fn threads_take_a_mutex_in_every_order() {
    for (count, executions) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
        let report = explore(move || {
            let mutex = Arc::new(Mutex::new(()));
            threads(count, move |_| drop(mutex.lock().unwrap()));
        });
        assert_eq!(report.progress.executions, executions);
    }
}

/// A compare-and-swap that fails only reads: two that fail, and the load beside them, have no order that matters.
#[test]
fn a_compare_and_swap_that_fails_is_a_read() {
    let report = explore(|| {
        let value = Arc::new(AtomicUsize::new(1));
        threads(3, move |me| {
            let seen = match me {
                0 => value.load(SeqCst),
                _ => value.compare_exchange(7, 8, SeqCst, SeqCst).unwrap_err(),
            };
            assert_eq!(seen, 1);
        });
    });
    assert_eq!(report.progress.executions, 1);
}

/// Of three that compare with the same value one succeeds; which one is all that can differ.
#[test]
fn who_swaps_first_is_all_that_matters() {
    let report = explore(|| {
        let value = Arc::new(AtomicUsize::new(0));
        let successes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&successes);
        threads(3, move |me| {
            if value.compare_exchange(0, me + 1, SeqCst, SeqCst).is_ok() {
                counted.fetch_add(1, SeqCst);
            }
        });
        assert_eq!(successes.load(SeqCst), 1);
    });
    assert_eq!(report.progress.executions, 3);
}
