//! No attempt, not even one that will not commit, sees a state that never was.
//!
//! ```text
//! writers ── move between x and y, which are 1000 together, and write z = x * y ──┐
//! readers ── read x, y, z in some order, with time in between: always true ───────┤
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use reenact::stm::{StmResult, TVar, Transaction, atomically};

/// Passes a little time, sometimes that of others.
fn dawdle(dice: u64) {
    if dice.is_multiple_of(7) {
        std::thread::yield_now();
    }
    (0..dice % 50).for_each(|_| std::hint::spin_loop());
}

fn step(dice: &mut u64) -> u64 {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    *dice >> 16
}

/// Two writers and two readers of something that holds at all times, in every attempt. The writers go on until both readers
/// have had an attempt, however busy the machine is.
fn holds_at_all_times<T>(
    write: impl Fn(&mut Transaction, u64) -> StmResult<()> + Sync,
    holds: impl Fn(&mut Transaction, u64) -> StmResult<T> + Sync,
) {
    let (stop, attempts) = (
        AtomicBool::new(false),
        [AtomicU64::new(0), AtomicU64::new(0)],
    );
    let is_read = || attempts.iter().all(|count| count.load(SeqCst) > 0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (1..3u64)
            .map(|seed| {
                let (write, is_read) = (&write, &is_read);
                scope.spawn(move || {
                    let mut dice = seed * 0x9e37_79b9;
                    let mut count = 0;
                    while count < 6000 || !is_read() {
                        count += 1;
                        let roll = step(&mut dice);
                        atomically(|tx| write(tx, roll));
                    }
                })
            })
            .collect();
        for (seed, attempts) in (3..5u64).zip(&attempts) {
            let (stop, holds) = (&stop, &holds);
            scope.spawn(move || {
                let mut dice = seed * 0x9e37_79b9;
                while !stop.load(SeqCst) {
                    let roll = step(&mut dice);
                    atomically(|tx| {
                        attempts.fetch_add(1, SeqCst);
                        holds(tx, roll)
                    });
                }
            });
        }
        for writer in writers {
            writer.join().expect("it holds");
        }
        stop.store(true, SeqCst);
    });
    assert!(is_read());
}

#[test]
fn no_attempt_sees_a_mixed_state() {
    let (x, y, z) = (TVar::new(400i64), TVar::new(600i64), TVar::new(240_000i64));
    holds_at_all_times(
        |tx, roll| {
            let (from_x, from_y) = (x.read(tx)?, y.read(tx)?);
            assert_eq!(from_x + from_y, 1000);
            dawdle(roll);
            let amount = (roll % 100) as i64 - 50;
            x.write(tx, from_x + amount)?;
            y.write(tx, from_y - amount)?;
            assert_eq!(z.read(tx)?, from_x * from_y);
            z.write(tx, (from_x + amount) * (from_y - amount))
        },
        |tx, roll| {
            let (a, b, c);
            if roll % 2 == 0 {
                a = x.read(tx)?;
                dawdle(roll);
                b = y.read(tx)?;
                c = z.read(tx)?;
            } else {
                c = z.read(tx)?;
                b = y.read(tx)?;
                dawdle(roll);
                a = x.read(tx)?;
            }
            assert_eq!(a + b, 1000);
            assert_eq!(a * b, c);
            Ok(())
        },
    );
}

#[test]
fn no_attempt_sees_a_torn_value() {
    let wide = TVar::new([0u64; 40]);
    let text = TVar::new(vec![0u64; 1]);
    holds_at_all_times(
        |tx, roll| {
            wide.write(tx, [roll; 40])?;
            text.write(tx, vec![roll; (roll % 30) as usize + 1])
        },
        |tx, roll| {
            let wide = wide.read(tx)?;
            dawdle(roll);
            assert!(wide.iter().all(|&word| word == wide[0]), "{wide:?}");
            text.read_with(tx, |text| {
                assert!(text.iter().all(|&word| word == wide[0]), "{text:?}");
            })
        },
    );
}

/// One reads all of many, while others keep changing them. After some failures it has them wait.
#[test]
fn a_long_transaction_among_short_ones_comes_to_its_end() {
    let vars: Vec<TVar<u64>> = (0..200).map(|_| TVar::new(0)).collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 1..3u64 {
            let (vars, stop) = (&vars, &stop);
            scope.spawn(move || {
                let mut dice = seed * 0x9e37_79b9;
                while !stop.load(SeqCst) {
                    let var = &vars[step(&mut dice) as usize % vars.len()];
                    atomically(|tx| var.modify(tx, |now| now + 1));
                }
            });
        }
        for _ in 0..10 {
            atomically(|tx| {
                for var in &vars {
                    std::thread::yield_now();
                    var.modify(tx, |now| now + 1)?;
                }
                Ok(())
            });
        }
        stop.store(true, SeqCst);
    });
}
