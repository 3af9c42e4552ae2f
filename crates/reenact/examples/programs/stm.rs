//! Programs around `TVar`s and transactions.

mod failures;
mod generated;
mod histories;
mod mixed;

use std::panic::catch_unwind;

use reenact::{
    stm::{StmResult, TVar, Transaction, abort, atomically, atomically_or_err, guard, retry},
    sync::Arc,
};

use crate::support::{Dice, Seen, jitter, panic_quietly, run_workers};

/// Runs the program of this name, if it is one of these.
pub(crate) fn run(name: &str, arguments: &[String]) -> bool {
    match name {
        "stm-counter" => counter(),
        "stm-bank" => bank(),
        "stm-readers" => readers(),
        "stm-own-reads" => own_reads(),
        "stm-queue" => queue(),
        "stm-either" => either(),
        "stm-failures" => failures(),
        "stm-panics" => panics(),
        "stm-boxed" => boxed(),
        _ => {
            return histories::run(name)
                || mixed::run(name, arguments)
                || failures::run(name, arguments)
                || generated::run(name, arguments);
        }
    }
    true
}

/// Everybody adds to one number and notes what it was.
fn counter() {
    let count = TVar::new(0u64);
    let theirs = count.clone();
    let digests = run_workers(3, move |me| {
        let mut seen = Seen::default();
        for _ in 0..400 {
            seen.note(atomically(|tx| {
                let before = theirs.read(tx)?;
                jitter();
                theirs.write(tx, before + me as u64 + 1)?;
                Ok(before)
            }));
        }
        seen.digest()
    });
    println!("{digests:?} {}", count.read_atomic());
}

/// Money moves between accounts; some look at all of them at once, and never find more or less than there is.
fn bank() {
    let accounts: Arc<[TVar<i64>]> = (0..6).map(|_| TVar::new(100)).collect();
    let digests = run_workers(4, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..250 {
            if dice.roll(3) == 0 {
                let all = atomically(|tx| {
                    jitter();
                    accounts
                        .iter()
                        .map(|account| account.read(tx))
                        .collect::<StmResult<Vec<_>>>()
                });
                assert_eq!(all.iter().sum::<i64>(), 600, "money is not made");
                seen.note(all);
            } else {
                let (from, to) = (&accounts[dice.roll(6)], &accounts[dice.roll(6)]);
                let amount = dice.roll(20) as i64;
                atomically(|tx| {
                    from.modify(tx, |balance| balance - amount)?;
                    jitter();
                    to.modify(tx, |balance| balance + amount)
                });
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// One writes, three read. Most transactions are at a place in the order where many others are too.
fn readers() {
    let pair = (TVar::new(0u64), TVar::new(0u64));
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for round in 0..400 {
            if me == 0 {
                atomically(|tx| {
                    pair.0.write(tx, round)?;
                    jitter();
                    pair.1.write(tx, round)
                });
            } else {
                let (one, other) = atomically(|tx| Ok((pair.0.read(tx)?, pair.1.read(tx)?)));
                assert_eq!(one, other, "both are written together");
                seen.note(one);
                jitter();
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Who wrote last reads what it wrote, any number of times, before and after others do.
fn own_reads() {
    let value = TVar::new(0usize);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for round in 0..200 {
            atomically(|tx| value.write(tx, me * 1000 + round));
            for _ in 0..dice.roll(4) {
                seen.note(value.read_atomic());
                jitter();
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// A queue with room for three: who finds it full or empty waits.
fn queue() {
    let items: TVar<Vec<usize>> = TVar::default();
    let digests = run_workers(4, move |me| {
        let mut seen = Seen::default();
        for round in 0..200 {
            jitter();
            if me % 2 == 0 {
                atomically(|tx| {
                    let mut now = items.read(tx)?;
                    guard(now.len() < 3)?;
                    now.push(me * 1000 + round);
                    items.write(tx, now)
                });
            } else {
                seen.note(atomically(|tx| {
                    let mut now = items.read(tx)?;
                    if now.is_empty() {
                        return retry();
                    }
                    let first = now.remove(0);
                    items.write(tx, now)?;
                    Ok(first)
                }));
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

fn take(tx: &mut Transaction, from: &TVar<u64>) -> StmResult<u64> {
    let now = from.read(tx)?;
    guard(now > 0)?;
    from.write(tx, now - 1)?;
    Ok(now)
}

/// Takes from one of two places, whichever has something.
fn either() {
    let places = (TVar::new(0u64), TVar::new(0u64));
    let digests = run_workers(4, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..200 {
            jitter();
            if me % 2 == 0 {
                let place = if dice.roll(2) == 0 {
                    &places.0
                } else {
                    &places.1
                };
                atomically(|tx| place.modify(tx, |now| now + 1));
            } else {
                seen.note(atomically(|tx| {
                    tx.or_else(
                        |tx| Ok(("first", take(tx, &places.0)?)),
                        |tx| Ok(("second", take(tx, &places.1)?)),
                    )
                }));
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Transactions that fail have seen something too.
fn failures() {
    let balance = TVar::new(50i64);
    let digests = run_workers(3, move |me| {
        let (mut dice, mut seen) = (Dice::new(me), Seen::default());
        for _ in 0..300 {
            let amount = dice.roll(60) as i64 - 29;
            seen.note(atomically_or_err(|tx| {
                let now = balance.read(tx)?;
                jitter();
                balance.write(tx, now - amount)?;
                if now < amount {
                    return abort(now);
                }
                Ok(now - amount)
            }));
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// So have those that panic.
fn panics() {
    panic_quietly();
    let number = TVar::new(0usize);
    let digests = run_workers(3, move |me| {
        let mut seen = Seen::default();
        for _ in 0..200 {
            let result = catch_unwind(|| {
                atomically(|tx| {
                    let now = number.read(tx)?;
                    number.write(tx, now + me + 1)?;
                    jitter();
                    assert!(now % 3 < 2, "{now}");
                    Ok(now)
                })
            });
            match result {
                Ok(now) => seen.note(now),
                Err(panic) => {
                    seen.note(panic.downcast::<String>().expect("ours"));
                    atomically(|tx| number.modify(tx, |now| now + 1));
                }
            }
        }
        seen.digest()
    });
    println!("{digests:?}");
}

/// Values that own something, and are read in place.
fn boxed() {
    let text = TVar::new(String::from("0"));
    let many: TVar<[u64; 20]> = TVar::new([0; 20]);
    let digests = run_workers(3, move |me| {
        let mut seen = Seen::default();
        for round in 0..250 {
            jitter();
            let (length, sum) = atomically(|tx| {
                let length = text.read_with(tx, String::len)?;
                let sum = many.read_with(tx, |many| many.iter().sum::<u64>())?;
                if length > 20 {
                    text.write(tx, String::new())?;
                } else {
                    text.modify(tx, |text| format!("{text}{me}"))?;
                }
                if round % 3 == me {
                    many.modify(tx, |mut many| {
                        many[round % 20] += length as u64;
                        many
                    })?;
                }
                Ok((length, sum))
            });
            seen.note((length, sum, atomically(|tx| text.read(tx))));
        }
        seen.digest()
    });
    println!("{digests:?}");
}
