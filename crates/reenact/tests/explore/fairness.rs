//! Loops that wait for something by asking again and again: they end if the others have their turn, and only then.

use std::time::Duration;

use reenact::{
    csp,
    explore::{Explorer, Failure, Finding, Gap, Strategy},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

const WAYS: [&str; 8] = [
    "portfolio",
    "exhaustive",
    "mixed",
    "walk",
    "pct 3",
    "pos",
    "preemptions 2",
    "delays 2",
];

/// Explores a program by each strategy: nothing fails, and all executions end. Returns what the exhaustive one found.
fn ends(program: impl Fn() + Send + Sync + Clone + 'static) -> Finding {
    for way in WAYS {
        let explorer = Explorer::new().strategy(way.parse().unwrap());
        let finding = explorer.executions(300).run(program.clone());
        assert!(finding.failure.is_none(), "{way}: {:?}", finding.failure);
        assert!(
            !finding.to_string().contains("20000 steps"),
            "{way}: {finding}"
        );
    }
    let explorer = Explorer::new().strategy(Strategy::Exhaustive);
    let finding = explorer.run(program);
    assert!(finding.failure.is_none(), "{:?}", finding.failure);
    finding
}

/// Waits for a flag that another thread sets; `wait` is called whenever it is not set yet.
fn wait_for_flag(wait: fn()) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let setter = thread::spawn(move || set.store(true, SeqCst));
        while !flag.load(SeqCst) {
            wait();
        }
        setter.join().unwrap();
    }
}

#[test]
fn a_flag_is_waited_for() {
    // The flag is set before it is read, or after it has been read once, twice or three times.
    for wait in [thread::yield_now, csp::yield_now] {
        let finding = ends(wait_for_flag(wait));
        assert_eq!((finding.executions, finding.is_complete), (4, true));
    }
    // Who does not yield might do something else after more repetitions than were explored.
    let sleep = || thread::sleep(Duration::from_millis(1));
    for wait in [std::hint::spin_loop, || (), sleep] {
        let finding = ends(wait_for_flag(wait));
        assert_eq!(finding.gaps, [Gap::Repetition]);
        assert!(!finding.is_complete);
    }
}

#[test]
fn several_threads_wait_for_a_flag() {
    ends(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let flag = Arc::clone(&flag);
                thread::spawn(move || {
                    if number == 1 {
                        flag.store(true, SeqCst);
                    }
                    while !flag.load(SeqCst) {
                        thread::yield_now();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn waits_with_a_time_limit_are_repeated() {
    ends(|| {
        let state = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&state);
        let setter = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut is_set = state.0.lock().unwrap();
        while !*is_set {
            let limit = Duration::from_millis(1);
            is_set = state.1.wait_timeout(is_set, limit).unwrap().0;
        }
        drop(is_set);
        setter.join().unwrap();
    });
    ends(|| {
        let (sender, receiver) = mpsc::channel();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        while receiver.recv_timeout(Duration::from_millis(1)).is_err() {}
        sending.join().unwrap();
    });
}

#[test]
fn tries_are_repeated() {
    ends(|| {
        let (sender, receiver) = mpsc::channel();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        while receiver.try_recv().is_err() {}
        sending.join().unwrap();
    });
    ends(|| {
        let count = Arc::new(Mutex::new(0));
        let other = Arc::clone(&count);
        let locking = thread::spawn(move || *other.lock().unwrap() += 1);
        loop {
            if let Ok(mut count) = count.try_lock() {
                *count += 1;
                break;
            }
        }
        locking.join().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    });
    ends(|| {
        let count = Arc::new(AtomicU32::new(0));
        let increment = |count: &AtomicU32| {
            let mut seen = count.load(SeqCst);
            while let Err(now) = count.compare_exchange(seen, seen + 1, SeqCst, SeqCst) {
                seen = now;
            }
        };
        let other = Arc::clone(&count);
        let incrementing = thread::spawn(move || increment(&other));
        increment(&count);
        incrementing.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    });
}

/// The monitor selects and locks until it is stopped, and the other one needs the lock to stop it.
#[test]
fn a_selection_with_a_default_is_repeated() {
    ends(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let (stop, stopped) = csp::channel::<()>();
        let monitor = csp::spawn(move || {
            loop {
                csp::select! {
                    recv(stopped) -> _message => return,
                    default => drop(other.lock().unwrap()),
                }
            }
        });
        let stopping = csp::spawn(move || {
            drop(lock.lock().unwrap());
            drop(stop);
        });
        stopping.join().unwrap();
        monitor.join().unwrap();
    });
}

/// Time passes for who waits for a point in time, if nobody else can continue.
#[test]
fn a_deadline_passes() {
    ends(|| {
        let flag = AtomicBool::new(false);
        let end = std::time::Instant::now() + Duration::from_secs(3_600);
        while !flag.load(SeqCst) && std::time::Instant::now() < end {
            thread::yield_now();
        }
    });
}

/// Nobody sees what such a thread does between two readings of the clock, so it is not held back.
#[test]
fn a_deadline_passes_for_who_only_reads_the_clock() {
    ends(|| {
        let end = std::time::Instant::now() + Duration::from_secs(3_600);
        while std::time::Instant::now() < end {
            std::hint::spin_loop();
        }
    });
}

/// That a thread yields or sleeps does not mean that others have come far enough.
#[test]
fn a_thread_may_continue_at_once_after_it_has_yielded_or_slept() {
    let waits: [fn(); 2] = [thread::yield_now, || thread::sleep(Duration::from_secs(1))];
    for wait in waits {
        let program = move || {
            let flag = Arc::new(AtomicBool::new(false));
            let set = Arc::clone(&flag);
            thread::spawn(move || set.store(true, SeqCst));
            let _ = flag.load(SeqCst);
            wait();
            assert!(flag.load(SeqCst), "it has had no time");
        };
        for way in ["exhaustive", "mixed"] {
            let explorer = Explorer::new().strategy(way.parse().unwrap());
            let failed = explorer.try_check(program).expect_err(way);
            assert!(failed.to_string().contains("it has had no time"));
        }
    }
}

/// Who gives up after some attempts has its way, if the others cannot continue before it does.
#[test]
fn an_activity_that_gives_up_after_many_attempts_is_no_livelock() {
    ends(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let gone = Arc::new(AtomicBool::new(false));
        let (awaited, seen) = (Arc::clone(&flag), Arc::clone(&gone));
        let waiting = thread::spawn(move || {
            while !seen.load(SeqCst) {
                thread::yield_now();
            }
            awaited.store(true, SeqCst);
        });
        for _ in 0..100 {
            if flag.load(SeqCst) {
                break;
            }
        }
        gone.store(true, SeqCst);
        waiting.join().unwrap();
    });
}

#[test]
fn a_livelock_is_reported_as_a_cycle() {
    let program = || {
        let flags: Arc<[AtomicBool; 2]> = Arc::default();
        let other = Arc::clone(&flags);
        let waits = |flag: &AtomicBool| {
            while !flag.load(SeqCst) {
                thread::yield_now();
            }
        };
        let waiting = thread::spawn(move || {
            waits(&other[0]);
            other[1].store(true, SeqCst);
        });
        waits(&flags[1]);
        flags[0].store(true, SeqCst);
        waiting.join().unwrap();
    };
    for way in WAYS {
        let explorer = Explorer::new().strategy(way.parse().unwrap());
        let failed = explorer.try_check(program).expect_err(way);
        let who = ["main", "main.0"].map(str::to_owned).to_vec();
        assert_eq!(failed.failures(), [Failure::Livelock(who)], "{way}");
        let text = failed.to_string();
        assert!(text.contains(" again, "), "{text}");
        assert!(text.lines().count() < 60, "{text}");
    }
}
