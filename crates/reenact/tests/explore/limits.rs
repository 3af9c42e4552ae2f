//! A search ends when its time is up, whatever the program does. That these tests end is what they show.

use std::{
    io::Read,
    os::unix::net::UnixStream,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use reenact::{
    explore::{Explorer, Finding, Gap, Limit, StuckActivity},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

const TIME: Duration = Duration::from_millis(100);

/// Sets what the programs left behind wait for.
struct LetGo(&'static AtomicBool);

impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[track_caller]
fn stuck(finding: &Finding) -> &StuckActivity {
    assert!(finding.failure.is_none(), "{finding}");
    assert!(!finding.is_complete, "{finding}");
    let [Gap::Limit(Limit::Time(TIME)), Gap::Stuck(stuck)] = &finding.gaps[..] else {
        panic!("{:?}", finding.gaps);
    };
    stuck
}

/// Searches until the line is found at which the program is stuck. On a busy machine there may not be enough time for it.
#[track_caller]
fn stuck_at_a_line(search: impl Fn() -> Finding) -> StuckActivity {
    let mut all = (0..20).map(|_| stuck(&search()).clone());
    let found = all.find(|stuck| stuck.site.is_some());
    let found = found.expect("the line is found");
    let site = found.site.as_ref().unwrap();
    assert!(site.contains("tests/explore/limits.rs:"), "{found}");
    found
}

#[test]
fn a_thread_that_spins_on_what_is_not_explored_is_left_behind() {
    static IS_SET: AtomicBool = AtomicBool::new(false);
    let _let_go = LetGo(&IS_SET);
    for cores in [1, 2] {
        let explorer = Explorer::new().time(TIME).cores(cores);
        let program = || {
            let mutex = Arc::new(Mutex::new(0));
            let other = Arc::clone(&mutex);
            let thread = thread::spawn(move || {
                *other.lock().unwrap() += 1;
                while !IS_SET.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
            thread.join().unwrap();
        };
        let stuck = stuck_at_a_line(|| explorer.run(program));
        assert_eq!((&*stuck.who, stuck.is_waiting), ("main.0", false));
        assert!(
            stuck.after.as_ref().unwrap().starts_with("lock at"),
            "{stuck}"
        );
        let failed = explorer.try_check(program).expect_err("it gets stuck");
        assert!(failed.to_string().contains("main.0 still runs"), "{failed}");
    }
}

#[test]
fn a_thread_that_waits_in_the_kernel_is_left_behind() {
    let stuck = stuck_at_a_line(|| {
        Explorer::new().time(TIME).run(|| {
            let (mut ours, theirs) = UnixStream::pair().unwrap();
            let _ = ours.read(&mut [0]);
            drop(theirs);
        })
    });
    assert_eq!((&*stuck.who, stuck.is_waiting), ("main", true));
}

#[test]
fn a_thread_that_waits_for_a_lock_of_the_standard_library_is_left_behind() {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let held = LOCK.lock();
    let stuck = stuck_at_a_line(|| {
        Explorer::new().time(TIME).run(|| {
            thread::spawn(|| drop(LOCK.lock())).join().unwrap();
        })
    });
    drop(held);
    assert_eq!((&*stuck.who, stuck.is_waiting), ("main.0", true));
}

#[test]
fn executions_that_never_end_are_ended() {
    let forever = || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::clone(&x);
        thread::spawn(move || while y.fetch_add(1, SeqCst) < usize::MAX {});
        while x.fetch_add(1, SeqCst) < usize::MAX {}
    };
    for way in [
        "portfolio",
        "exhaustive",
        "mixed",
        "pctcp 2",
        "preemptions 2",
        "delays 1",
    ] {
        for cores in [1, 2] {
            let explorer = Explorer::new().steps(u32::MAX).time(TIME).cores(cores);
            let finding = explorer.strategy(way.parse().unwrap()).run(forever);
            assert!(finding.failure.is_none(), "{way}: {finding}");
            assert!(
                finding.gaps.contains(&Gap::Limit(Limit::Time(TIME))),
                "{way}: {:?}",
                finding.gaps
            );
            assert_eq!(finding.executions, 0, "{way}: {finding}");
            assert!(!finding.is_complete, "{way}: {finding}");
        }
    }
}

#[test]
fn what_ends_in_time_is_explored_as_without_a_limit() {
    let minute = Duration::from_secs(60);
    let found = Explorer::new()
        .time(minute)
        .try_check(super::failures::lost_update)
        .expect_err("it fails");
    let without = Explorer::new()
        .try_check(super::failures::lost_update)
        .expect_err("it fails");
    assert_eq!(found.schedule(), without.schedule());
    assert_eq!(found.failures(), without.failures());
    let finding = Explorer::new().time(minute).run(|| ());
    assert!(finding.is_complete, "{finding}");
}
