//! Programs around `Mutex`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reenact::{
    sync::{Arc, Mutex, PoisonError, TryLockError, mpsc},
    thread,
};

use crate::support::{
    Dice, Seen, jitter, join_all, panic_quietly, poison_and_clear, run_workers, start_workers,
};

crate::programs! {
    "hands" => hands,
    "mutex-try" => tries,
    "mutex-nested" => nested,
    "mutex-many" => many,
    "mutex-moved" => moved,
    "mutex-poison" => poison,
    "mutex-poison-unlocked" => poison_unlocked,
}

/// Four threads append their number to one list.
fn hands() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let threads = start_workers(4, &list, |list, me| {
        for _ in 0..2000 {
            list.lock().unwrap().push(me as u64);
        }
    });
    join_all!(threads);
    let list = list.lock().unwrap();
    let hash = list
        .iter()
        .fold(7u64, |hash, &me| hash.wrapping_mul(31).wrapping_add(me));
    println!("{} {hash}", list.len());
}

/// Three threads try, and lock after some tries in vain.
fn tries() {
    let list = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&list);
    let failures = run_workers(3, move |me| {
        let mut failures = 0;
        for round in 0..300 {
            match theirs.try_lock() {
                Ok(mut list) => {
                    jitter();
                    list.push((me, round));
                }
                Err(TryLockError::WouldBlock) => {
                    failures += 1;
                    if failures % 3 == 0 {
                        theirs.lock().unwrap().push((me, round));
                    }
                }
                Err(TryLockError::Poisoned(_)) => unreachable!("nobody panics"),
            }
        }
        failures
    });
    let mut seen = Seen::default();
    let mut list = Arc::into_inner(list).expect("the threads are gone");
    list.get_mut().unwrap().push((9, 9));
    seen.note(list.into_inner().unwrap());
    println!("{failures:?} {}", seen.digest());
}

/// Three threads move money between four accounts, two locks at a time, always the lower first.
fn nested() {
    let accounts: Arc<Vec<_>> = Arc::new((0..4).map(|_| Mutex::new(100i64)).collect());
    let theirs = Arc::clone(&accounts);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..300 {
            let (low, high) = match (dice.roll(4), dice.roll(4)) {
                (a, b) if a < b => (a, b),
                (a, b) if b < a => (b, a),
                _ => continue,
            };
            let mut from = theirs[low].lock().unwrap();
            jitter();
            let mut to = theirs[high].lock().unwrap();
            let amount = *from / 3 - *to / 5;
            *from -= amount;
            *to += amount;
            seen.note((*from, *to));
        }
        seen.digest()
    });
    let balances: Vec<_> = accounts
        .iter()
        .map(|account| *account.lock().unwrap())
        .collect();
    println!("{digests:?} {balances:?}");
}

/// More mutexes than an activity keeps in view at a time.
fn many() {
    let mutexes: Arc<Vec<_>> = Arc::new((0..300usize).map(Mutex::new).collect());
    let theirs = Arc::clone(&mutexes);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..1500 {
            let mut value = theirs[dice.roll(300)].lock().unwrap();
            seen.note(*value);
            *value = value.wrapping_mul(5) + me;
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Mutexes that are made, used, moved, handed to others, and dropped, so that new ones lie where old ones did.
fn moved() {
    let digests = run_workers(2, |me| {
        let (to_friend, from_me) = mpsc::channel::<Box<Mutex<usize>>>();
        let friend = thread::spawn(move || {
            let mut seen = Seen::default();
            for mutex in from_me {
                *mutex.lock().unwrap() += 1;
                let value = mutex.into_inner().unwrap();
                let again = Mutex::new(value);
                seen.note(*again.lock().unwrap());
            }
            seen.digest()
        });
        let shared = Arc::new(Mutex::new(0));
        for round in 0..100 {
            let mutex = Mutex::new(round);
            *mutex.lock().unwrap() += *shared.lock().unwrap();
            let boxed = Box::new(mutex);
            *shared.lock().unwrap() = *boxed.lock().unwrap() * me % 1000;
            to_friend.send(boxed).unwrap();
        }
        drop(to_friend);
        friend.join().unwrap()
    });
    println!("{digests:?}");
}

/// Some panic with the lock. Who takes it next sees that, and sometimes makes it good, with the lock in hand.
fn poison() {
    panic_quietly();
    let list = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&list);
    let counts = run_workers(3, move |me| {
        let mut dice = Dice::new(me);
        let (mut poisoned, mut failures) = (0, 0);
        for _ in 0..150 {
            let turn = dice.roll(10);
            if turn == 0 {
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _list = theirs.lock();
                    jitter();
                    panic!("with the lock");
                }));
            } else if turn < 4 {
                match theirs.try_lock() {
                    Ok(mut list) => list.push(me),
                    Err(TryLockError::Poisoned(error)) => error.into_inner().push(me + 20),
                    Err(TryLockError::WouldBlock) => failures += 1,
                }
            } else {
                let mut list = theirs.lock().unwrap_or_else(|error| {
                    poisoned += 1;
                    if turn < 6 {
                        theirs.clear_poison();
                    }
                    PoisonError::into_inner(error)
                });
                list.push(me + 10);
            }
        }
        (poisoned, failures)
    });
    let mut seen = Seen::default();
    seen.note(&*list.lock().unwrap_or_else(PoisonError::into_inner));
    println!("{counts:?} {} {}", list.is_poisoned(), seen.digest());
}

/// Some panic with the lock; others look for that, and make it good, without it.
fn poison_unlocked() {
    let fails = |lock: &Mutex<_>| lock.lock().is_err();
    let panics = |lock: &Mutex<_>| {
        let _held = lock.lock();
        panic!("with the lock");
    };
    poison_and_clear(
        Mutex::new(0),
        panics,
        fails,
        Mutex::is_poisoned,
        Mutex::clear_poison,
    );
}
