//! Transactions in programs that are killed, that wait for what never comes, or that are others on another day.

use reenact::{
    stm::{TVar, atomically, guard, retry},
    sync::{Arc, Mutex},
    thread,
};

use crate::{
    failures::say,
    support::{Dice, SharedNumbers, run_workers},
};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "stm-steady" => steady(),
        "stm-stuck" => stuck(),
        "stm-crowded-out" => crowded_out(),
        "stm-drift" => drift(&arguments[0]),
        "stm-midway" => midway(&arguments[0]),
        _ => return false,
    }
    true
}

/// Some threads do one transaction after the other and acknowledge each, for good.
fn steady() {
    let acknowledged = SharedNumbers::open(4096);
    let variables: [TVar<u64>; 4] = Default::default();
    // Recording has begun.
    atomically(|tx| variables[0].write(tx, 1));
    say("ready");
    run_workers(4, move |me| {
        let mut dice = Dice::new(me);
        for count in 1.. {
            let (one, other) = (&variables[dice.roll(4)], &variables[dice.roll(4)]);
            match dice.roll(3) {
                0 => drop(atomically(|tx| Ok((one.read(tx)?, other.read(tx)?)))),
                1 => atomically(|tx| one.modify(tx, |value| value + 1)),
                _ => atomically(|tx| {
                    let value = one.read(tx)?;
                    other.write(tx, value / 2)
                }),
            }
            acknowledged.set(me, count);
        }
    });
}

/// Two wait for each other. Somebody else ends the process.
fn stuck() {
    let (one, other) = (TVar::new(0), TVar::new(0));
    for (mine, theirs) in [(&one, &other), (&other, &one)] {
        let (mine, theirs) = (mine.clone(), theirs.clone());
        thread::spawn(move || {
            atomically(|tx| {
                guard(theirs.read(tx)? > 1)?;
                mine.write(tx, 2)
            });
            println!("this is not reached");
        });
    }
    atomically(|tx| one.write(tx, 1));
    atomically(|tx| other.write(tx, 1));
    println!("done");
}

/// Somebody makes so much of a trace that there is no room for it, while others commit.
fn crowded_out() {
    let count = TVar::new(0u64);
    let lock = Arc::new(Mutex::new(()));
    let held = lock.lock().unwrap();
    let theirs = Arc::clone(&lock);
    let chatter = thread::spawn(move || {
        let vain = (0..2_000_000).filter(|_| theirs.try_lock().is_err());
        vain.count()
    });
    let committed = count.clone();
    let seen = run_workers(2, move |me| {
        let mut rounds = 0;
        for _ in 0..100_000 {
            rounds += atomically(|tx| {
                let before = committed.read(tx)?;
                committed.write(tx, before + 1)?;
                Ok(u64::from(before % 2 == me as u64))
            });
            rounds += u64::from(committed.read_atomic() > 0);
        }
        rounds > 0
    });
    let vain = chatter.join().unwrap();
    drop(held);
    println!(
        "{vain} in vain, {} committed, {seen:?}",
        count.read_atomic()
    );
}

/// Does something else when the environment says `DRIFT=other`.
fn drift(what: &str) {
    let other = std::env::var_os("DRIFT").is_some_and(|drift| drift == "other");
    let (x, y) = (TVar::new(1), TVar::new(1));
    // A thread that has the last place in the order, so that main is surprised by it.
    let before = x.clone();
    thread::spawn(move || atomically(|tx| before.modify(tx, |x| x + 1)))
        .join()
        .unwrap();
    let lock = Mutex::new(());
    match (what, other) {
        // One more or less, silent or surprising.
        ("count", false) => atomically(|tx| x.write(tx, 5)),
        ("count", true) => (0..2).for_each(|_| atomically(|tx| x.write(tx, 5))),
        // Reads where it wrote, or the other way round; as the first after somebody else, and as the second.
        ("first-read", false) | ("first-write", true) => atomically(|tx| x.write(tx, 5)),
        ("first-read", true) | ("first-write", false) => drop(x.read_atomic()),
        ("read", false) | ("write", true) => {
            atomically(|tx| x.write(tx, 5));
            atomically(|tx| x.write(tx, 6));
        }
        ("read", true) | ("write", false) => {
            atomically(|tx| x.write(tx, 5));
            x.read_atomic();
        }
        // Waits for what it did not wait for.
        ("retry", _) => atomically(|tx| {
            if other {
                return retry();
            }
            x.write(tx, 5)
        }),
        ("silent-retry", _) => {
            atomically(|tx| x.write(tx, 5));
            atomically(|tx| if other { retry() } else { x.write(tx, 6) });
        }
        // A lock in a transaction.
        ("lock-within", _) => {
            atomically(|tx| {
                drop(lock.lock());
                x.write(tx, 5)
            });
        }
        _ => panic!("no such difference: {what}"),
    }
    let after = thread::spawn(move || atomically(|tx| Ok(x.read(tx)? + y.read(tx)?)));
    println!("{}", after.join().unwrap());
}

/// Recording begins after some transactions; those are not in the trace, and so not in a program that is replayed.
fn midway(path: &str) {
    let number = Arc::new(TVar::new(0u64));
    if std::env::var_os("REENACT").is_none() {
        for _ in 0..100 {
            atomically(|tx| number.modify(tx, |number| number + 1));
        }
        atomically(|tx| number.write(tx, 0));
    }
    reenact::record_to(path.as_ref()).expect("a trace");
    let theirs = Arc::clone(&number);
    let sums = run_workers(3, move |me| {
        (0..100).fold(0, |sum, _| {
            let before = atomically(|tx| theirs.replace(tx, me as u64));
            sum * 3 % 100_003 + before + theirs.read_atomic()
        })
    });
    println!("{sums:?}");
}
