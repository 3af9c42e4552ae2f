//! No sleeper is forgotten.

use std::{sync::mpsc, thread, time::Duration};

use reenact::stm::{TVar, atomically, guard};
use reenact_testing::patience;

/// What takes this long never happens.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs it on threads of its own; says so if it hangs.
fn comes_to_its_end(what: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let runner = thread::spawn(move || {
        what();
        let _ = done.send(());
    });
    let done = patience::receive(&is_done, std::process::id(), PATIENCE);
    if done == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("somebody sleeps who should have been woken");
    }
    runner.join().unwrap();
}

/// ```text
/// 0: turn = 0? else retry ── turn = 1 ──┐
/// 1: turn = 1? else retry ── turn = 2 ──┤   …, the last one: turn = 0
/// └──────────── 3000 times ─────────────┘
/// ```
#[test]
fn a_turn_goes_round_among_threads() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 3000;
    comes_to_its_end(|| {
        let turn = TVar::new(0u32);
        thread::scope(|scope| {
            for me in 0..THREADS {
                let turn = &turn;
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        atomically(|tx| {
                            guard(turn.read(tx)? == me)?;
                            turn.write(tx, (me + 1) % THREADS)
                        });
                    }
                });
            }
        });
        assert_eq!(turn.read_atomic(), 0);
    });
}

/// Two sides hand over through a slot each; whoever finds its slot full or empty sleeps. A wake-up that is lost is the end.
#[test]
fn items_pass_through_slots_of_one() {
    const ITEMS: u64 = 8000;
    comes_to_its_end(|| {
        let slots: Vec<TVar<Option<Box<u64>>>> = (0..3).map(|_| TVar::new(None)).collect();
        thread::scope(|scope| {
            let slots = &slots;
            scope.spawn(move || {
                for item in 0..ITEMS {
                    atomically(|tx| {
                        guard(slots[0].read_with(tx, Option::is_none)?)?;
                        slots[0].write(tx, Some(Box::new(item)))
                    });
                }
            });
            for at in 0..2 {
                scope.spawn(move || {
                    for _ in 0..ITEMS {
                        atomically(|tx| {
                            let item = slots[at].read(tx)?;
                            guard(item.is_some())?;
                            guard(slots[at + 1].read_with(tx, Option::is_none)?)?;
                            slots[at].write(tx, None)?;
                            slots[at + 1].write(tx, item)
                        });
                    }
                });
            }
            for expected in 0..ITEMS {
                let item = atomically(|tx| {
                    let item = slots[2].replace(tx, None)?;
                    guard(item.is_some())?;
                    Ok(item)
                });
                assert_eq!(item.as_deref(), Some(&expected));
            }
        });
    });
}

/// Many sleep for one variable, and for others; one change wakes them all.
#[test]
fn everybody_who_waits_is_woken() {
    const ROUNDS: u32 = 300;
    comes_to_its_end(|| {
        let (round, others) = (TVar::new(0u32), [TVar::new(0), TVar::new(0)]);
        let arrived = TVar::new(0u32);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for awaited in 1..=ROUNDS {
                        atomically(|tx| {
                            let _ = others[0].read(tx)? + others[1].read(tx)?;
                            guard(round.read(tx)? >= awaited)
                        });
                        atomically(|tx| arrived.modify(tx, |arrived| arrived + 1));
                    }
                });
            }
            for now in 1..=ROUNDS {
                atomically(|tx| round.write(tx, now));
                atomically(|tx| guard(arrived.read(tx)? == 6 * now));
            }
        });
    });
}
