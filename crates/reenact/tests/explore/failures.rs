//! What can go wrong is found and reported.

use reenact::{
    explore::{Explorer, Failed, Failure, Strategy, any},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};
use reenact_engine::explore::Explored;

/// What is found in every way of looking for it.
fn found(program: impl Fn() + Send + Sync + Clone + 'static) -> Box<Failed> {
    for way in [
        "exhaustive",
        "mixed",
        "urw",
        "walk",
        "pct 3",
        "pctcp 3",
        "pos",
        "preemptions 3",
        "delays 4",
    ] {
        let explorer = Explorer::new()
            .strategy(way.parse().unwrap())
            .executions(5_000);
        let failed = explorer.try_check(program.clone()).expect_err(way);
        assert!(!failed.failures().is_empty(), "{way}: {failed}");
        for _ in 0..100 {
            let follow = Explorer::new().strategy(Strategy::Schedule(failed.schedule().clone()));
            let again = follow
                .try_check(program.clone())
                .expect_err("the schedule leads there");
            assert_eq!(again.failures(), failed.failures(), "{way}: {failed}");
            assert_eq!(again.schedule(), failed.schedule());
        }
    }
    Explorer::new()
        .try_check(program)
        .expect_err("a portfolio finds it")
}

pub(super) fn lost_update() {
    let x = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let x = Arc::clone(&x);
            thread::spawn(move || x.store(x.load(SeqCst) + 1, SeqCst))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(x.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_lost_update_is_found() {
    let failed = found(lost_update);
    let [Failure::Panic(who, panic)] = failed.failures() else {
        panic!("{failed}");
    };
    assert_eq!(who, "main");
    assert!(panic.message.contains("an update is lost"), "{failed}");
    assert!(
        panic.place.as_ref().unwrap().contains("failures.rs"),
        "{failed}"
    );
}

#[test]
fn a_deadlock_is_found_and_who_waits_for_whom() {
    let failed = found(|| {
        let forks: Arc<[_; 2]> = Arc::new([Mutex::new(()), Mutex::new(())]);
        let other = Arc::clone(&forks);
        let thread = thread::spawn(move || {
            let _first = other[1].lock().unwrap();
            let _second = other[0].lock().unwrap();
        });
        let first = forks[0].lock().unwrap();
        let second = forks[1].lock().unwrap();
        drop((first, second));
        thread.join().unwrap();
    });
    let [Failure::Deadlock(waiting)] = failed.failures() else {
        panic!("{failed}");
    };
    let holder = |index: usize| waiting[index].holder.as_ref().unwrap().0.as_str();
    assert_eq!((waiting[0].who.as_str(), holder(0)), ("main", "main.0"));
    assert_eq!((waiting[1].who.as_str(), holder(1)), ("main.0", "main"));
}

#[test]
fn locking_twice_is_reported() {
    let failed = found(|| {
        let mutex = Mutex::new(());
        let _first = mutex.lock().unwrap();
        let _second = mutex.lock().unwrap();
    });
    assert!(failed.to_string().contains("it locks twice"), "{failed}");
}

#[test]
fn a_wakeup_that_comes_too_early_is_lost() {
    let failed = found(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        // Without looking whether it is true already.
        drop(shared.1.wait(guard).unwrap());
        thread.join().unwrap();
    });
    let [Failure::Deadlock(waiting)] = failed.failures() else {
        panic!("{failed}");
    };
    assert_eq!(waiting.len(), 1, "{failed}");
    let what = &waiting[0].what;
    assert!(what.starts_with("wake from condvar@"), "{what}");
}

/// Two wait, one of them is woken and says so; then both are.
#[test]
fn any_of_those_who_wait_may_be_woken() {
    let failed = found(|| {
        let shared = Arc::new((Mutex::new((0, None)), Condvar::new(), Condvar::new()));
        let threads: Vec<_> = (0..2)
            .map(|me| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (state, signal, came) = &*shared;
                    let mut state = state.lock().unwrap();
                    state.0 += 1;
                    came.notify_one();
                    state = signal.wait(state).unwrap();
                    state.1.get_or_insert(me);
                    came.notify_one();
                })
            })
            .collect();
        let (state, signal, came) = &*shared;
        let state = state.lock().unwrap();
        let state = came.wait_while(state, |state| state.0 < 2).unwrap();
        signal.notify_one();
        let state = came.wait_while(state, |state| state.1.is_none()).unwrap();
        let woken = state.1;
        signal.notify_all();
        drop(state);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(woken, Some(0), "the second was woken first");
    });
    assert!(failed.to_string().contains("woken first"), "{failed}");
}

#[test]
fn every_answer_is_tried() {
    let failed = found(|| assert_ne!((any(3), any(4)), (2, 3)));
    assert_eq!(failed.schedule().lines.len(), 2, "{failed}");
    assert_eq!(failed.schedule().lines[1].choice, 3, "{failed}");
}

#[test]
fn a_panic_that_nobody_observes_is_a_failure() {
    let failed = found(|| drop(thread::spawn(|| panic!("alone"))));
    let [Failure::Panic(who, _)] = failed.failures() else {
        panic!("{failed}");
    };
    assert_eq!(who, "main.0");
    let observed = Explorer::new().try_check(|| {
        let thread = thread::spawn(|| panic!("observed"));
        assert!(thread.join().is_err());
        assert!(std::panic::catch_unwind(|| panic!("caught")).is_err());
    });
    assert!(observed.expect("somebody observes the panic").is_complete);
}

#[test]
fn a_panic_unwinds_through_locks_and_poisons_them() {
    let finding = Explorer::new().try_check(|| {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let mut outer = other.0.lock().unwrap();
            let mut inner = other.1.lock().unwrap();
            (*outer, *inner) = (1, 1);
            panic!("with both");
        });
        let seen = match shared.1.lock() {
            Ok(inner) => *inner,
            Err(poisoned) => *poisoned.into_inner() + 10,
        };
        assert!(thread.join().is_err());
        assert!(shared.0.is_poisoned() && shared.1.is_poisoned());
        assert!([0, 11].contains(&seen), "{seen}");
    });
    assert!(finding.expect("nothing fails").is_complete);
}

#[test]
fn what_is_dropped_while_it_panics_may_lock() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap_or_else(|error| error.into_inner()) += 1;
        }
    }
    let finding = Explorer::new().try_check(|| {
        let mutex = Arc::new(Mutex::new(0));
        let locks = Locks(Arc::clone(&mutex));
        let thread = thread::spawn(move || {
            let _locks = locks;
            panic!("it locks when it is dropped");
        });
        *mutex.lock().unwrap() += 1;
        assert!(thread.join().is_err());
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
    assert!(finding.expect("nothing fails").is_complete);
}

#[test]
fn a_program_without_an_end_is_reported() {
    let program = || {
        let stop = Arc::new(AtomicUsize::new(0));
        while stop.load(SeqCst) == 0 {}
    };
    let explorer = Explorer::new().strategy("urw".parse().unwrap());
    let failed = explorer.try_check(program).expect_err("it never ends");
    assert_eq!(
        failed.failures(),
        [Failure::Livelock(vec!["main".to_owned()])]
    );
    let program = || {
        let count = Arc::new(AtomicUsize::new(1));
        while count.fetch_add(1, SeqCst) != 0 {}
    };
    let failed = explorer.steps(500).try_check(program);
    let failed = failed.expect_err("it never ends");
    assert_eq!(failed.failures(), [Failure::NoEnd(500)]);
}

#[test]
fn what_differs_for_no_reason_is_reported() {
    use std::sync::atomic::AtomicU32;
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let program = || {
        let locks = 1 + RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2;
        let mutex = Arc::new(Mutex::new(()));
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || drop(other.lock().unwrap()));
        for _ in 0..locks {
            drop(mutex.lock().unwrap());
        }
        thread.join().unwrap();
    };
    let explorer = Explorer::new().strategy(Strategy::Exhaustive);
    let failed = explorer.try_check(program).expect_err("it differs");
    assert!(
        failed.to_string().contains("does not do the same twice"),
        "{failed}"
    );
}

/// ```text
/// main.0: f(0) → f(1) → f(2) → …
/// ```
#[test]
fn too_deep_a_recursion_is_reported_and_others_are_explored_afterwards() {
    fn deep(n: u64) -> u64 {
        let page = std::hint::black_box([n; 64]);
        if n == u64::MAX {
            0
        } else {
            deep(n + 1) + page[(n % 64) as usize]
        }
    }
    for way in ["exhaustive", "urw"] {
        let explorer = Explorer::new().strategy(way.parse().unwrap());
        let failed = explorer
            .try_check(|| {
                let mutex = Arc::new(Mutex::new(0));
                let other = Arc::clone(&mutex);
                let thread = thread::spawn(move || deep(*other.lock().unwrap()));
                drop(mutex.lock().unwrap());
                let _ = thread.join();
            })
            .expect_err("no stack is so large");
        assert!(
            failed
                .failures()
                .contains(&Failure::Overflow("main.0".to_owned())),
            "{failed}"
        );
    }
    let finding = Explorer::new().try_check(|| drop(Mutex::new(1).lock().unwrap()));
    assert!(finding.expect("nothing fails").is_complete);
}

#[test]
fn what_is_dropped_while_it_panics_is_part_of_the_step() {
    let program = || {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        thread::spawn(move || {
            thread::spawn(move || {
                let _ = sender.send(1);
            });
        });
        thread::spawn(move || {
            let _ = other.send(2);
        });
        assert_eq!(receiver.recv(), Ok(2));
    };
    let explored = Explored::new(Arc::new(program)).expect("nothing is recorded");
    let report = reenact_explore::Explorer::of(&explored).run(|_| {});
    assert!(report.coverage.is_complete(), "{report}");
    assert!(report.progress.failures > 0, "{report}");
    assert!(
        report.progress.failures < report.progress.executions,
        "{report}"
    );
}
