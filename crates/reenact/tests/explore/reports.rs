//! What is reported is the cause, and no more than is known.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use reenact::{
    csp,
    explore::{Explorer, Failed, Failure, Gap},
    stm::{TVar, atomically},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

const WAYS: [&str; 4] = ["portfolio", "exhaustive", "pct 2", "preemptions 2"];

fn found(way: &str, program: impl Fn() + Send + Sync + 'static) -> Box<Failed> {
    let explorer = Explorer::new().strategy(way.parse().unwrap());
    explorer.try_check(program).expect_err(way)
}

/// The activities that panicked, and the lines of their messages that say why.
fn panics(failed: &Failed) -> Vec<(&str, &str)> {
    let panics = failed.failures().iter().map(|failure| match failure {
        Failure::Panic(who, panic) => (&**who, panic.message.lines().next().unwrap()),
        other => panic!("{other}"),
    });
    panics.collect()
}

#[test]
fn the_panic_of_a_child_comes_before_that_of_who_joins_it() {
    for way in WAYS {
        let failed = found(way, || {
            let child = thread::spawn(|| panic!("the reason"));
            child.join().unwrap();
        });
        let unwrapped = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        let expected = [("main.0", "the reason"), ("main", unwrapped)];
        assert_eq!(panics(&failed), expected, "{way}");
        let text = failed.to_string();
        assert!(
            text.starts_with("main.0 panicked at crates/reenact/tests/explore/reports.rs:"),
            "{text}"
        );
    }
}

#[test]
fn so_does_that_of_a_process_and_of_a_grandchild() {
    let failed = found("exhaustive", || {
        let process = csp::spawn(|| {
            let child = thread::spawn(|| panic!("the reason"));
            child.join().expect("the child ends");
        });
        process.join().expect("the process ends");
    });
    let expected = [
        ("main.a0.0", "the reason"),
        ("main.a0", "the child ends: Any { .. }"),
        ("main", "the process ends: Any { .. }"),
    ];
    assert_eq!(panics(&failed), expected);
}

#[test]
fn what_resumes_a_childs_panic_is_reported_as_that() {
    let failed = found("exhaustive", || {
        let child = thread::spawn(|| panic!("the reason"));
        let Err(panic) = child.join();
        std::panic::resume_unwind(panic);
    });
    assert_eq!(panics(&failed), [("main.0", "the reason")]);
}

#[test]
fn a_panic_that_was_expected_is_not_reported_as_the_cause_of_another_one() {
    let failed = found("exhaustive", || {
        let child = thread::spawn(|| panic!("as it should"));
        assert!(child.join().is_err());
        panic!("something else");
    });
    assert_eq!(panics(&failed), [("main", "something else")]);
}

#[test]
fn a_poisoned_lock_is_reported_after_the_panic_that_poisoned_it() {
    let failed = found("exhaustive", || {
        let mutex = Arc::new(Mutex::new(0));
        let other = Arc::clone(&mutex);
        let child = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("the reason");
        });
        let _ = child.join();
        drop(mutex.lock().unwrap());
    });
    assert_eq!(panics(&failed)[0], ("main.0", "the reason"));
    assert!(panics(&failed)[1].1.contains("PoisonError"), "{failed}");
}

#[test]
fn what_cannot_be_explored_is_no_failure_of_the_program() {
    let program = || {
        let (tvar, mutex) = (TVar::new(0), Mutex::new(0));
        atomically(|transaction| {
            let value = tvar.read(transaction)?;
            *mutex.lock().unwrap() = value;
            Ok(())
        });
    };
    for way in WAYS {
        let explorer = Explorer::new().strategy(way.parse().unwrap());
        let finding = explorer.run(program);
        assert!(finding.failure.is_none(), "{way}: {:?}", finding.failure);
        assert!(!finding.is_complete, "{way}: {finding}");
        assert!(
            matches!(finding.gaps.last(), Some(Gap::Unsupported(what)) if what.ends_with("(main)")),
            "{way}: {:?}",
            finding.gaps
        );
        let failed = explorer.try_check(program).expect_err("it is told");
        assert_eq!(failed.failures(), [], "{failed}");
        assert!(
            failed.to_string().contains("within a transaction"),
            "{failed}"
        );
    }
}

/// The activities that wait forever when main has ended.
fn blocked(program: impl Fn() + Send + Sync + Clone + 'static) -> Vec<String> {
    let mut all = Vec::new();
    for way in WAYS {
        let failed = found(way, program.clone());
        let [Failure::BlockedAtEnd(waiting)] = failed.failures() else {
            panic!("{way}: {failed}");
        };
        all = waiting.iter().map(|waiting| waiting.who.clone()).collect();
        let explorer = Explorer::new().strategy(way.parse().unwrap());
        let finding = explorer.allow_blocked(true).run(program.clone());
        assert!(finding.failure.is_none(), "{way}: {:?}", finding.failure);
    }
    all
}

#[test]
fn threads_that_wait_forever_are_reported() {
    let who = blocked(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        thread::spawn(move || receiver.recv());
        std::mem::forget(sender);
    });
    assert_eq!(who, ["main.0"]);
    let who = blocked(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        thread::spawn(move || drop(shared.1.wait(shared.0.lock().unwrap())));
        thread::spawn(thread::park);
    });
    assert_eq!(who, ["main.0", "main.1"]);
}

#[test]
fn processes_that_wait_forever_are_reported() {
    let who = blocked(|| {
        let (sender, receiver) = csp::channel();
        csp::spawn(move || {
            let _receiver = receiver;
            let _ = sender.send(1);
        });
    });
    assert_eq!(who, ["main.a0"]);
}

#[test]
fn a_lock_that_is_never_given_back_is_not_to_be_waited_for() {
    let program = || {
        let mutex = Arc::new(Mutex::new(()));
        std::mem::forget(mutex.lock());
        thread::spawn(move || drop(mutex.lock()));
    };
    let allowed = Explorer::new().allow_blocked(true).run(program);
    let failures = allowed.failure.expect("it is a deadlock").failures;
    assert!(matches!(failures[..], [Failure::BlockedAtEnd(_)]));
}

#[test]
fn who_ends_with_main_or_after_it_is_not_reported() {
    let finding = Explorer::new().run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = csp::channel::<u32>();
        csp::spawn(move || receiver.recv());
        thread::spawn(move || x.fetch_add(1, SeqCst));
        drop(sender);
    });
    assert!(finding.is_complete, "{finding}");
}

/// Fails once in every five executions or so.
fn fails_sometimes() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let x = Arc::new(AtomicUsize::new(0));
    let y = Arc::clone(&x);
    thread::spawn(move || y.store(1, SeqCst)).join().unwrap();
    std::hint::black_box(std::time::Instant::now());
    assert_ne!(RUNS.fetch_add(1, Relaxed) % 5, 4, "it fails sometimes");
}

#[test]
fn a_static_that_keeps_its_value_is_no_failing_schedule() {
    static IS_USED: AtomicU32 = AtomicU32::new(0);
    for way in WAYS {
        IS_USED.store(0, Relaxed);
        let failed = found(way, || {
            let x = AtomicUsize::new(0);
            x.store(1, SeqCst);
            assert_eq!(IS_USED.swap(1, Relaxed), 0, "it is the first");
        });
        let [Failure::Divergence(divergence, _)] = failed.failures() else {
            panic!("{way}: {failed}");
        };
        let text = divergence.to_string();
        let expected =
            "the first execution did not fail, but here the second one failed: main panicked at ";
        assert!(text.starts_with(expected), "{way}: {text}");
    }
}

/// A test may count on being the only one that has its state when the exploration is over.
#[test]
fn nothing_of_the_program_is_left_after_the_exploration() {
    for way in WAYS {
        let seen = Arc::new(std::sync::Mutex::new(0));
        let all = Arc::clone(&seen);
        Explorer::new()
            .strategy(way.parse().unwrap())
            .executions(10)
            .time(std::time::Duration::from_secs(60))
            .check(move || *all.lock().unwrap() += 1);
        Arc::try_unwrap(seen).expect("it is the only one");
    }
}

#[test]
fn a_failure_that_does_not_depend_on_the_schedule_has_no_failing_schedule() {
    for way in WAYS {
        let directory = tempfile::tempdir().unwrap();
        let explorer = Explorer::new()
            .strategy(way.parse().unwrap())
            .keep(directory.path(), "it_fails_sometimes");
        let Err(failed) = explorer.try_check(fails_sometimes) else {
            // The others run the program too seldom.
            assert!(["exhaustive", "preemptions 2"].contains(&way), "{way}");
            continue;
        };
        let text = failed.to_string();
        assert!(!text.contains("failing schedule"), "{way}: {text}");
        assert!(text.contains("the program has read the clock"), "{text}");
        assert!(failed.file().is_none(), "{way}: {text}");
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }
}
