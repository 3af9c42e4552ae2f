//! Programs around `RwLock`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reenact::{
    sync::{Arc, PoisonError, RwLock, RwLockWriteGuard, TryLockError, mpsc},
    thread,
};

use crate::support::{Dice, Seen, jitter, panic_quietly, poison_and_clear, run_workers};

crate::programs! {
    "rwlock-readers" => readers,
    "rwlock-own-reads" => own_reads,
    "rwlock-mixed" => mixed,
    "rwlock-downgrade" => downgrade,
    "rwlock-poison" => poison,
    "rwlock-poison-unlocked" => poison_unlocked,
}

/// One writes, three read, several at a time.
fn readers() {
    let lock = Arc::new(RwLock::new(0u64));
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for _ in 0..400 {
            if me == 0 {
                *lock.write().unwrap() += 1;
            } else {
                let value = lock.read().unwrap();
                jitter();
                seen.note(*value);
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Who wrote last reads what it wrote, before another writes. Nothing but the order of the messages decides.
fn own_reads() {
    let lock = Arc::new(RwLock::new(0u64));
    let (to_other, from_me) = mpsc::channel();
    let theirs = Arc::clone(&lock);
    let other = thread::spawn(move || {
        for value in from_me {
            *theirs.write().unwrap() += value;
        }
    });
    let mut seen = Seen::default();
    for round in 0..100 {
        *lock.write().unwrap() += 1;
        for _ in 0..round % 4 {
            seen.note(*lock.read().unwrap());
        }
        to_other.send(round).unwrap();
        for _ in 0..round % 3 {
            seen.note(*lock.read().unwrap());
        }
    }
    drop(to_other);
    other.join().unwrap();
    seen.note(*lock.read().unwrap());
    println!("{}", seen.digest());
}

/// Everybody does everything, to one of three locks.
fn mixed() {
    let locks: Arc<[RwLock<usize>; 3]> = Arc::default();
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..400 {
            let lock = &locks[dice.roll(3)];
            match dice.roll(6) {
                0 => *lock.write().unwrap() += me + 1,
                1 => match lock.try_write() {
                    Ok(mut value) => *value = *value * 2 % 1000,
                    Err(TryLockError::WouldBlock) => seen.note("no write"),
                    Err(TryLockError::Poisoned(_)) => unreachable!("nobody panics"),
                },
                2 | 3 => match lock.try_read() {
                    Ok(value) => seen.note(*value),
                    Err(_) => seen.note("no read"),
                },
                _ => {
                    let value = lock.read().unwrap();
                    jitter();
                    seen.note(*value);
                }
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Who has written goes on reading, with other readers, and nobody writes in between.
fn downgrade() {
    let lock = Arc::new(RwLock::new(0));
    let theirs = Arc::clone(&lock);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..300 {
            match dice.roll(3) {
                0 => {
                    let mut value = theirs.write().unwrap();
                    *value += me + 1;
                    let written = *value;
                    let value = RwLockWriteGuard::downgrade(value);
                    jitter();
                    assert_eq!(*value, written, "nobody wrote in between");
                    seen.note(*value);
                }
                1 => seen.note(*theirs.read().unwrap()),
                _ => seen.note(theirs.try_write().map(|mut value| *value += 1).is_ok()),
            }
        }
        seen.digest()
    });
    let mut lock = Arc::into_inner(lock).expect("the threads are gone");
    *lock.get_mut().unwrap() += 1;
    println!("{digests:?} {}", lock.into_inner().unwrap());
}

/// Writers that panic poison the lock, readers that panic do not.
fn poison() {
    panic_quietly();
    let lock = Arc::new(RwLock::new(0));
    let counts = run_workers(3, move |me| {
        let mut dice = Dice::new(me);
        let (mut poisoned, mut sum) = (0, 0);
        for _ in 0..200 {
            match dice.roll(8) {
                0 => {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        *lock.write().unwrap_or_else(PoisonError::into_inner) += 1;
                        let _value = lock.write();
                        panic!("while writing");
                    }));
                }
                1 => {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        let _value = lock.read();
                        jitter();
                        panic!("while reading");
                    }));
                }
                2 => {
                    let _value = lock.write().unwrap_or_else(|error| {
                        lock.clear_poison();
                        error.into_inner()
                    });
                }
                _ => {
                    sum += *lock.read().unwrap_or_else(|error| {
                        poisoned += 1;
                        error.into_inner()
                    });
                }
            }
        }
        (poisoned, sum)
    });
    println!("{counts:?}");
}

/// Some panic while writing; others look for that, and make it good, without the lock.
fn poison_unlocked() {
    let fails = |lock: &RwLock<_>| lock.read().is_err();
    let panics = |lock: &RwLock<_>| {
        let _held = lock.write();
        panic!("with the lock");
    };
    poison_and_clear(
        RwLock::new(0),
        panics,
        fails,
        RwLock::is_poisoned,
        RwLock::clear_poison,
    );
}
