//! Programs around `Once`, `OnceLock` and `LazyLock`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reenact::sync::{Arc, LazyLock, Mutex, Once, OnceLock};

use crate::support::{Dice, Seen, jitter, panic_quietly, run_workers};

crate::programs! {
    "once-race" => race,
    "once-poison" => poison,
    "once-wait" => wait,
    "once-lock-race" => lock_race,
    "once-lock-wait" => lock_wait,
    "lazy-lock-race" => lazy_race,
    "lazy-lock-poison" => lazy_poison,
}

/// Three threads each want to be the one.
fn race() {
    let onces: Arc<Vec<(Once, Mutex<Option<usize>>)>> =
        Arc::new((0..150).map(|_| (Once::new(), Mutex::new(None))).collect());
    let digests = run_workers(3, move |me| {
        let mut seen = Seen::default();
        for (once, winner) in onces.iter() {
            jitter();
            seen.note(once.is_completed());
            once.call_once(|| *winner.lock().unwrap() = Some(me));
            assert!(once.is_completed());
            seen.note(*winner.lock().unwrap());
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Some of those who are the one panic.
fn poison() {
    panic_quietly();
    let onces: Arc<Vec<Once>> = Arc::new((0..150).map(|_| Once::new()).collect());
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for once in onces.iter() {
            let panics = dice.roll(2) == 0;
            let mut ran = false;
            let result = catch_unwind(AssertUnwindSafe(|| match dice.roll(3) {
                0 => once.call_once_force(|state| {
                    ran = true;
                    seen.note(state.is_poisoned());
                }),
                _ => once.call_once(|| {
                    ran = true;
                    jitter();
                    assert!(!panics, "the one panics");
                }),
            }));
            seen.note((ran, result.is_ok(), once.is_completed()));
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Some wait for what others do; those who do it do it in spite of everything.
fn wait() {
    panic_quietly();
    let onces: Arc<Vec<Once>> = Arc::new((0..100).map(|_| Once::new()).collect());
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for (round, once) in onces.iter().enumerate() {
            let result = catch_unwind(AssertUnwindSafe(|| match me {
                0 => once.call_once_force(|_| jitter()),
                1 if round % 2 == 0 => once.call_once(|| panic!("the one panics")),
                1 => once.call_once(|| {}),
                2 => once.wait_force(),
                _ => once.wait(),
            }));
            seen.note(result.is_ok());
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Three threads put something into the same cells, in different ways.
fn lock_race() {
    let cells: Arc<Vec<OnceLock<usize>>> = Arc::new((0..150).map(|_| OnceLock::new()).collect());
    let theirs = Arc::clone(&cells);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for cell in theirs.iter() {
            match dice.roll(3) {
                0 => seen.note(cell.set(me)),
                1 => seen.note(cell.get_or_init(|| {
                    jitter();
                    me + 10
                })),
                _ => seen.note(cell.get()),
            }
        }
        seen.digest()
    });
    let filled: usize = cells.iter().filter_map(|cell| cell.get()).sum();
    let mut cells = Arc::into_inner(cells).expect("the threads are gone");
    let copies = cells.clone();
    let taken: Vec<_> = cells.iter_mut().map(OnceLock::take).collect();
    let same = copies.into_iter().map(OnceLock::into_inner).eq(taken);
    println!("{digests:?} {filled} {same}");
}

/// Two wait for a cell that one of two others fills.
fn lock_wait() {
    let cells: Arc<Vec<OnceLock<usize>>> = Arc::new((0..100).map(|_| OnceLock::new()).collect());
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for cell in cells.iter() {
            match me {
                0 | 1 => seen.note(cell.set(me).is_ok()),
                _ => seen.note(cell.wait()),
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

static FIRST: LazyLock<Mutex<Vec<usize>>> = LazyLock::new(|| Mutex::new(vec![7]));

/// Who needs the value first makes it.
fn lazy_race() {
    let made = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&made);
    type Make = Box<dyn FnOnce() -> usize + Send>;
    let lazies: Arc<Vec<LazyLock<usize, Make>>> = Arc::new(
        (0..100usize)
            .map(|number| {
                let made = Arc::clone(&made);
                LazyLock::new(Box::new(move || {
                    made.lock().unwrap().push(number);
                    number * 2
                }) as Make)
            })
            .collect(),
    );
    let sums = run_workers(3, move |me| {
        let mut dice = Dice::new(me);
        let mut sum = 0;
        for _ in 0..100 {
            let number = dice.roll(100);
            sum += *lazies[number];
            FIRST.lock().unwrap().push(number);
        }
        sum + LazyLock::force(&lazies[me])
    });
    let mut seen = Seen::default();
    seen.note(&*theirs.lock().unwrap());
    seen.note(&*FIRST.lock().unwrap());
    println!("{sums:?} {}", seen.digest());
}

/// Making the value panics, and panics for everybody from then on.
fn lazy_poison() {
    panic_quietly();
    let order = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&order);
    let make: fn() -> usize = || panic!("cannot be made");
    let lazies: Arc<Vec<LazyLock<usize>>> =
        Arc::new((0..60).map(|_| LazyLock::new(make)).collect());
    let messages = run_workers(3, move |me| {
        let mut first = 0;
        for lazy in lazies.iter() {
            let panic = catch_unwind(AssertUnwindSafe(|| **lazy)).unwrap_err();
            if panic.downcast_ref::<&str>() == Some(&"cannot be made") {
                first += 1;
                order.lock().unwrap().push(me);
            }
        }
        first
    });
    println!("{messages:?} {:?}", theirs.lock().unwrap());
}
