//! What is claimed of an exploration is what it did.

use std::time::Duration;

use reenact::{
    explore::{Explorer, Finding, Gap, Limit, Strategy},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

fn explore(way: &str, program: impl Fn() + Send + Sync + 'static) -> Finding {
    explorer(way).run(program)
}

fn explorer(way: &str) -> Explorer {
    Explorer::new().strategy(way.parse().unwrap())
}

/// Many classes, without a failure.
fn turns() {
    let x = Arc::new(AtomicUsize::new(0));
    let threads = [1, 2, 3].map(|me| {
        let x = Arc::clone(&x);
        thread::spawn(move || {
            x.fetch_add(me, SeqCst);
            x.load(SeqCst);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn what_covers_everything_has_no_gap() {
    for way in ["portfolio", "exhaustive", "preemptions 9", "delays 99"] {
        let finding = explore(way, turns);
        assert!(finding.is_complete, "{way}: {finding}");
        assert_eq!(finding.gaps, [], "{way}");
    }
}

#[test]
fn what_does_not_cover_everything_says_why() {
    for way in ["mixed", "urw", "pct 2", "preemptions 0", "delays 0"] {
        let finding = explore(way, turns);
        assert!(!finding.is_complete, "{way}: {finding}");
        assert!(
            matches!(finding.gaps[..], [Gap::Strategy(_)]),
            "{way}: {:?}",
            finding.gaps
        );
    }
    let few = explorer("exhaustive").executions(2).run(turns);
    assert_eq!(few.gaps, [Gap::Limit(Limit::Executions(2))]);
    let short = explorer("exhaustive").steps(2).run(turns);
    assert_eq!(short.gaps, [Gap::Limit(Limit::Steps(2))]);
    let failing = explore("exhaustive", super::failures::lost_update);
    assert_eq!(failing.gaps, [Gap::Limit(Limit::Failure)]);
    for finding in [few, short, failing] {
        assert!(!finding.is_complete, "{finding}");
    }
}

#[test]
fn a_thread_that_is_not_explored_is_a_gap() {
    for cores in [1, 2] {
        let finding = explorer("exhaustive").cores(cores).run(|| {
            turns();
            let other = thread::spawn(|| std::thread::spawn(|| ()).join().unwrap());
            other.join().unwrap();
        });
        assert!(finding.failure.is_none(), "{finding}");
        assert!(!finding.is_complete, "{finding}");
        assert_eq!(finding.gaps, [Gap::Thread("main.3".to_owned())]);
    }
}

#[test]
fn no_execution_at_all_is_an_error() {
    for explorer in [
        Explorer::new().executions(0),
        Explorer::new().time(Duration::ZERO),
        explorer("mixed").time(Duration::ZERO).cores(2),
    ] {
        let finding = explorer.run(turns);
        assert_eq!(finding.executions, 0, "{finding}");
        assert!(finding.obstacle().is_some(), "{finding}");
        let failed = explorer.try_check(turns).expect_err("nothing was explored");
        assert_eq!(failed.failures(), []);
        assert!(
            failed.to_string().contains("cannot be explored"),
            "{failed}"
        );
    }
}

#[test]
fn a_schedule_that_is_followed_is_one_execution() {
    let failed = Explorer::new()
        .try_check(super::failures::lost_update)
        .expect_err("it fails");
    let follow = Explorer::new().strategy(Strategy::Schedule(failed.schedule().clone()));
    let finding = follow.run(turns);
    assert!(
        !finding.is_complete && !finding.gaps.is_empty(),
        "{finding}"
    );
}
