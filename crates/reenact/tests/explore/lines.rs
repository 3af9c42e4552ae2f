//! Failing schedules are described by lines of the program, with the values that were read and written.

use reenact::{
    csp,
    explore::{Explorer, Failed},
    sync::{
        Arc, Mutex, Once, OnceLock,
        atomic::{AtomicI32, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn found(program: impl Fn() + Send + Sync + Clone + 'static) -> Box<Failed> {
    let explorer = Explorer::new().strategy("exhaustive".parse().unwrap());
    let failed = explorer.try_check(program).expect_err("it fails");
    for line in &failed.schedule().lines {
        assert!(
            line.site.starts_with(file!()),
            "a line of the program: {failed}"
        );
    }
    failed
}

/// What is done, and at which line.
fn steps(failed: &Failed) -> Vec<(&str, u32)> {
    let lines = failed.schedule().lines.iter();
    let place = |site: &str| site.rsplit(':').nth(1).unwrap().parse().unwrap();
    lines
        .map(|line| (line.operation(), place(&line.site)))
        .collect()
}

/// Who tries makes giving back a step.
///
/// ```text
/// main.0: lock            unlock
/// main:          try_lock
/// ```
#[test]
fn a_lock_is_given_back_at_the_line_that_drops_its_guard() {
    static UNLOCKED: AtomicI32 = AtomicI32::new(0);
    let failed = found(|| {
        let lock = Arc::new(Mutex::new(0));
        let shared = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            {
                let mut guard = shared.lock().unwrap();
                *guard += 1;
                UNLOCKED.store(line!() as i32 + 1, SeqCst);
            }
            drop(shared.lock().unwrap());
        });
        let had = lock.try_lock().is_ok();
        thread.join().unwrap();
        assert!(had, "somebody else has it");
    });
    let brace = failed
        .schedule()
        .lines
        .iter()
        .find(|line| line.operation() == "store")
        .and_then(|line| line.what.rsplit(": ").next())
        .unwrap();
    let steps = steps(&failed);
    let mut unlocks = steps.iter().filter(|(what, _)| *what == "unlock");
    let first = unlocks.next().map(|(_, line)| line.to_string());
    assert_eq!(first.as_deref(), Some(brace), "{failed}");
    let brace: u32 = brace.parse().unwrap();
    let second = unlocks.next().map(|(_, line)| *line);
    assert_eq!(second, Some(brace + 1), "the statement: {failed}");
}

#[test]
fn a_value_is_described_with_what_reads_or_writes_it() {
    let failed = found(|| {
        let x = Arc::new(AtomicI32::new(-1));
        let y = Arc::clone(&x);
        let thread = thread::spawn(move || {
            let seen = y.load(SeqCst);
            y.store(seen + 1, SeqCst);
        });
        thread.join().unwrap();
        x.fetch_add(5, SeqCst);
        assert_eq!(x.compare_exchange(4, 7, SeqCst, SeqCst), Ok(4));
    });
    let lines = failed.schedule().lines.iter();
    let values = lines.map(|line| {
        let value = line.what.split_once("): ").unwrap_or_default().1;
        format!("{} {value}", line.operation())
    });
    let expected = [
        "load -1",
        "store 0",
        "fetch_add 0 -> 5",
        "compare_exchange failed: it is 5",
    ];
    assert_eq!(values.collect::<Vec<_>>(), expected, "{failed}");
}

#[test]
fn a_once_has_operations_of_its_own_at_the_lines_of_who_uses_it() {
    let failed = found(|| {
        let once = Arc::new((Once::new(), OnceLock::new(), AtomicI32::new(0)));
        let other = Arc::clone(&once);
        let thread = thread::spawn(move || {
            other.0.call_once(|| other.2.store(1, SeqCst));
            other.1.get_or_init(|| 1);
        });
        let was = once.0.is_completed();
        once.0.call_once(|| once.2.store(2, SeqCst));
        thread.join().unwrap();
        assert!(
            was || once.2.load(SeqCst) == 2,
            "the other one came between"
        );
    });
    let text = failed.to_string();
    for said in [
        "checks once@",
        "runs once@",
        "completes once@",
        "completes once-lock@",
    ] {
        assert!(text.contains(said), "{said}: {failed}");
    }
    for unsaid in [" locks mutex", " notifies "] {
        assert!(!text.contains(unsaid), "{unsaid}: {failed}");
    }
}

#[test]
fn a_selection_is_described_with_the_case_that_happened() {
    let failed = found(|| {
        let [(left, from_left), (right, from_right)] = [(); 2].map(|()| csp::unbounded());
        left.send(1).unwrap();
        right.send(2).unwrap();
        let first = csp::select! {
            recv(from_left) -> number => number.unwrap(),
            recv(from_right) -> number => number.unwrap(),
        };
        assert_eq!(first, 1);
    });
    let text = failed.to_string();
    assert!(text.contains("selects: receives, case 2 of 2 at"), "{text}");
}

#[test]
fn what_std_asks_for_is_at_the_line_that_asks_std() {
    let first = line!() + 6;
    let failed = found(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        sender.send(2).unwrap();
        let all: Vec<_> = receiver.iter().take(2).collect();
        thread.join().unwrap();
        assert_eq!(all, [2, 1]);
    });
    let steps = steps(&failed);
    let received = steps
        .iter()
        .filter(|(what, _)| *what == "receive from a channel");
    let lines: Vec<_> = received.map(|(_, line)| *line).collect();
    assert_eq!(lines, [first, first], "{failed}");
}

/// Nothing of the test below the fiber is taken for a line of the program.
#[test]
fn what_unwinds_gives_back_at_a_line_of_its_own() {
    let failed = found(|| {
        let lock = Arc::new(Mutex::new(0));
        let shared = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _guard = shared.lock().unwrap();
            panic!("on purpose");
        });
        let had = lock.try_lock().is_ok();
        let _ = thread.join();
        assert!(had, "it is locked, or poisoned");
    });
    assert!(!failed.failures().is_empty());
}
