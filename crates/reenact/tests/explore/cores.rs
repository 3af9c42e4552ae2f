//! What several threads explore is what one explores.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Mutex as Plain},
};

use reenact::{
    actor::{self, Target},
    csp,
    explore::{Explorer, Failure, RandomStrategy, Strategy},
    stm::{TVar, atomically},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use reenact_engine::explore::{Explored, Search};

use super::failures::lost_update;

/// What came of each execution, in order, and how often there was an execution.
fn outcomes<T: Ord + Clone + Send + 'static>(
    way: Strategy,
    cores: usize,
    program: impl Fn() -> T + Send + Sync + 'static,
) -> (BTreeSet<T>, u64) {
    let seen = Arc::new(Plain::new(BTreeSet::new()));
    let all = Arc::clone(&seen);
    let finding = Explorer::new().strategy(way).cores(cores).run(move || {
        let outcome = program();
        all.lock().unwrap().insert(outcome);
    });
    assert!(finding.failure.is_none(), "{finding}");
    assert!(finding.is_complete, "{finding}");
    let outcomes = seen.lock().unwrap().clone();
    (outcomes, finding.executions)
}

/// Every class once, whoever runs it.
fn agree<T: Ord + Clone + Send + std::fmt::Debug + 'static>(
    program: impl Fn() -> T + Send + Sync + Copy + 'static,
) {
    let alone = outcomes(Strategy::Exhaustive, 1, program);
    assert!(alone.0.len() > 1, "{alone:?}");
    for cores in 2..=3 {
        assert_eq!(
            outcomes(Strategy::Exhaustive, cores, program),
            alone,
            "{cores}"
        );
    }
    assert_eq!(outcomes(Strategy::Portfolio, 2, program).0, alone.0);
}

#[test]
fn each_class_of_threads_with_a_mutex_is_run_once() {
    agree(|| {
        let list = Arc::new(Mutex::new(Vec::new()));
        let threads = [0, 1].map(|me| {
            let list = Arc::clone(&list);
            thread::spawn(move || (0..4).for_each(|_| list.lock().unwrap().push(me)))
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        let list = list.lock().unwrap();
        list.clone()
    });
}

/// Who is born depends on the schedule, so the numbers of activities are not the same in all threads that explore.
#[test]
fn each_class_of_threads_that_start_others_is_run_once() {
    agree(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads = [1, 2, 3].map(|me| {
            let x = Arc::clone(&x);
            thread::spawn(move || {
                if x.fetch_add(1, SeqCst) + 1 == me {
                    let y = Arc::clone(&x);
                    thread::spawn(move || y.fetch_add(10, SeqCst))
                        .join()
                        .unwrap();
                }
            })
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        x.load(SeqCst)
    });
}

#[test]
fn each_class_of_processes_is_run_once() {
    agree(|| {
        let (sender, receiver) = csp::unbounded();
        for me in 0..3 {
            let sender = sender.clone();
            csp::spawn(move || sender.send(me));
        }
        drop(sender);
        receiver.iter().collect::<Vec<i32>>()
    });
}

#[test]
fn each_class_of_actors_is_run_once() {
    agree(|| {
        let list = actor::spawn(Vec::new());
        let threads = [0, 1].map(|me| {
            let list = list.clone();
            thread::spawn(move || {
                for _ in 0..2 {
                    list.send(move |list, _| list.push(me));
                }
            })
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        list.ask(|list, _| list.clone()).wait().unwrap()
    });
}

#[test]
fn each_class_of_transactions_is_run_once() {
    agree(|| {
        let x = TVar::new(0);
        let threads = [1, 2, 3].map(|me| {
            let x = x.clone();
            thread::spawn(move || {
                atomically(|tx| {
                    let before = x.read(tx)?;
                    x.write(tx, before * 4 + me)
                });
            })
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        atomically(|tx| x.read(tx))
    });
}

/// Whether a lock is tried depends on the schedule: that giving it back is a step is found out on the way.
#[test]
fn a_lock_that_is_tried_now_and_then_is_tried_in_every_way() {
    agree(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let lock = Arc::new(Mutex::new(()));
        let (y, other) = (Arc::clone(&x), Arc::clone(&lock));
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            y.store(1, SeqCst);
        });
        let could = match x.load(SeqCst) {
            0 => None,
            _ => Some(lock.try_lock().is_ok()),
        };
        thread.join().unwrap();
        could
    });
}

/// When steps have become finer, all cores search again, not only one.
#[test]
fn a_search_with_finer_steps_is_on_all_cores() {
    let program = Arc::new(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let lock = Arc::new(Mutex::new(()));
        let (y, other) = (Arc::clone(&x), Arc::clone(&lock));
        let thread = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            y.store(1, SeqCst);
        });
        if x.load(SeqCst) == 1 {
            drop(lock.try_lock());
        }
        thread.join().unwrap();
    });
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, SeqCst);
        Explored::new(Arc::clone(&program) as _).expect("nothing is recorded here")
    };
    let search = Search {
        strategy: Strategy::Exhaustive,
        cores: 2,
        ..Search::default()
    };
    let finding = search.run_on(&make(), &make, &mut |_| ControlFlow::Continue(()));
    assert!(finding.is_complete, "{finding}");
    // The one to begin with, and for each of the two searches one for each core.
    assert_eq!(made.load(SeqCst), 5);
}

#[test]
fn what_any_core_finds_is_reported_and_its_schedule_leads_there() {
    let nested = || {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        thread::spawn(move || {
            thread::spawn(move || other.send(1));
        });
        thread::spawn(move || sender.send(2));
        let both = [receiver.recv(), receiver.recv()];
        assert_eq!(both, [Ok(1), Ok(2)]);
    };
    for way in [
        "portfolio",
        "exhaustive",
        "mixed",
        "urw",
        "pct 3",
        "pos",
        "preemptions 3",
    ] {
        for cores in 1..=3 {
            finds(way, cores, lost_update);
            finds(way, cores, nested);
        }
    }
}

fn finds(way: &str, cores: usize, program: impl Fn() + Send + Sync + Copy + 'static) {
    let explorer = Explorer::new().strategy(way.parse().unwrap()).cores(cores);
    let failed = explorer.try_check(program).expect_err(way);
    let [Failure::Panic(who, _)] = failed.failures() else {
        panic!("{way} on {cores}: {failed}");
    };
    assert_eq!(who, "main");
    let follow = Explorer::new().strategy(Strategy::Schedule(failed.schedule().clone()));
    let again = follow.try_check(program).expect_err("it leads there");
    assert_eq!(again.failures(), failed.failures());
}

/// One that fails seldom: it is not the first thread that finds it, nor in its first executions.
#[test]
fn what_is_found_late_is_found_by_one_of_them() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (1..=6)
            .map(|me| {
                let x = Arc::clone(&x);
                thread::spawn(move || {
                    let _ = x.compare_exchange(6 - me, 7 - me, SeqCst, SeqCst);
                })
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_ne!(x.load(SeqCst), 6);
    };
    for cores in 1..=3 {
        finds("urw", cores, program);
        finds("exhaustive", cores, program);
    }
}

#[test]
fn what_was_not_tried_is_said() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let threads = [1, 2, 3].map(|_| {
            let x = Arc::clone(&x);
            thread::spawn(move || (0..3).for_each(|_| x.store(1, SeqCst)))
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    };
    for cores in 2..=3 {
        let explorer = Explorer::new().cores(cores).executions(100);
        let finding = explorer.clone().strategy(Strategy::Exhaustive).run(program);
        assert!(!finding.is_complete);
        assert!(
            finding.covered[0].ends_with("stopped after 100 executions"),
            "{finding}"
        );
        let way = Strategy::Random(RandomStrategy::Mixed);
        let finding = explorer.seed(5).strategy(way).run(program);
        let said = "100 executions; 100 of them at random (mixed, seed 5)";
        assert_eq!(finding.to_string(), said);
    }
}
