//! What a transaction does, off.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
};

use reenact::stm::{
    StmError, StmResult, TVar, Transaction, TxError, abort, atomically, atomically_or_err, guard,
    retry,
};

#[test]
fn a_transaction_reads_what_it_wrote() {
    let var = TVar::new(1);
    let seen = atomically(|tx| {
        let before = var.read(tx)?;
        var.write(tx, before + 1)?;
        let replaced = var.replace(tx, 10)?;
        var.modify(tx, |now| now * 2)?;
        Ok((
            before,
            replaced,
            var.read(tx)?,
            var.read_with(tx, |now| now + 1)?,
        ))
    });
    assert_eq!(seen, (1, 2, 20, 21));
    assert_eq!(var.read_atomic(), 20);
}

#[test]
fn writes_without_a_read_take_effect_in_their_order() {
    let var = TVar::new(0);
    atomically(|tx| {
        var.write(tx, 1)?;
        var.write(tx, 2)
    });
    assert_eq!(var.read_atomic(), 2);
}

#[test]
fn a_transaction_of_hundreds_of_variables_finds_what_it_wrote() {
    let vars: Vec<TVar<usize>> = (0..700).map(TVar::new).collect();
    atomically(|tx| {
        for (index, var) in vars.iter().enumerate() {
            assert_eq!(var.read(tx)?, index);
            var.write(tx, index * 2)?;
            let other = index / 2;
            assert_eq!(vars[other].read(tx)?, other * 2);
        }
        Ok(())
    });
    for (index, var) in vars.iter().enumerate() {
        assert_eq!(var.read_atomic(), index * 2);
    }
}

#[test]
fn a_clone_is_the_same_variable_and_an_equal_value_is_not() {
    let var = TVar::new(5);
    let (same, other) = (var.clone(), TVar::new(5));
    assert!(var == same && var.ptr_eq(&same) && var != other);
    atomically(|tx| same.write(tx, 6));
    assert_eq!((var.read_atomic(), other.read_atomic()), (6, 5));
    assert_eq!(format!("{var:?}"), "TVar { .. }");
    assert_eq!(TVar::<u8>::default().read_atomic(), 0);
    assert_eq!(TVar::from('x').read_atomic(), 'x');
}

/// Waits until there is something, and takes it.
fn take(tx: &mut Transaction, from: &TVar<u32>) -> StmResult<u32> {
    let now = from.read(tx)?;
    guard(now > 0)?;
    from.write(tx, 0)?;
    Ok(now)
}

#[test]
fn parts_of_a_transaction_are_functions_of_it() {
    let (one, other) = (TVar::new(1), TVar::new(2));
    let both = atomically(|tx| Ok(take(tx, &one)? + take(tx, &other)?));
    assert_eq!(both, 3);
    assert_eq!((one.read_atomic(), other.read_atomic()), (0, 0));
}

#[test]
fn the_second_alternative_sees_nothing_of_the_first() {
    let (empty, full, note) = (TVar::new(0), TVar::new(7), TVar::new(String::new()));
    let taken = atomically(|tx| {
        note.write(tx, "before".to_owned())?;
        tx.or_else(
            |tx| {
                note.modify(tx, |note| note + " first")?;
                full.write(tx, 100)?;
                take(tx, &empty)
            },
            |tx| {
                assert_eq!(note.read(tx)?, "before");
                note.modify(tx, |note| note + " second")?;
                take(tx, &full)
            },
        )
    });
    assert_eq!(taken, 7);
    assert_eq!(note.read_atomic(), "before second");
    assert_eq!(full.read_atomic(), 0);
}

#[test]
fn a_first_alternative_that_goes_on_is_the_only_one() {
    let (full, note) = (TVar::new(7), TVar::new(0));
    let taken = atomically(|tx| {
        note.write(tx, 1)?;
        let taken = tx.or_else(
            |tx| {
                note.modify(tx, |note| note + 1)?;
                take(tx, &full)
            },
            |_| unreachable!("the first did not retry"),
        )?;
        note.modify(tx, |note| note * 10)?;
        Ok(taken)
    });
    assert_eq!((taken, note.read_atomic(), full.read_atomic()), (7, 20, 0));
}

#[test]
fn alternatives_are_within_alternatives() {
    let vars: Vec<TVar<u32>> = (0..12).map(|_| TVar::new(0)).collect();
    let done = atomically(|tx| {
        vars[0].write(tx, 1)?;
        tx.or_else(
            |tx| {
                vars[0].write(tx, 2)?;
                vars[1].write(tx, 2)?;
                let inner = tx.or_else(
                    |tx| {
                        for var in &vars {
                            var.write(tx, 3)?;
                        }
                        retry()
                    },
                    |tx| {
                        assert_eq!((vars[0].read(tx)?, vars[2].read(tx)?), (2, 0));
                        vars[0].write(tx, 4)?;
                        for var in &vars[2..] {
                            var.write(tx, 4)?;
                        }
                        Ok("inner second")
                    },
                )?;
                assert_eq!((vars[0].read(tx)?, vars[1].read(tx)?), (4, 2));
                Ok(inner)
            },
            |_| unreachable!("the first did not retry"),
        )
    });
    assert_eq!(done, "inner second");
    let values: Vec<u32> = vars.iter().map(TVar::read_atomic).collect();
    assert_eq!(values, [4, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4]);
}

#[test]
fn a_failed_transaction_has_written_nothing_and_says_why() {
    let var = TVar::new(1);
    let result: Result<(), _> = atomically_or_err(|tx| {
        var.write(tx, 2)?;
        tx.after_commit(|| unreachable!("it did not commit"));
        abort(var.read(tx)? + 1)
    });
    assert_eq!(result, Err(3));
    assert_eq!(var.read_atomic(), 1);
    let result: Result<_, ()> = atomically_or_err(|tx| var.replace(tx, 5).map_err(TxError::from));
    assert_eq!((result, var.read_atomic()), (Ok(1), 5));
}

#[test]
fn a_panic_leaves_everything_as_it_was() {
    let var = TVar::new(String::from("as it was"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        atomically(|tx| -> StmResult<()> {
            var.write(tx, "otherwise".to_owned())?;
            tx.or_else(|_| panic!("on purpose"), |_| Ok(()))
        });
    }));
    assert_eq!(
        panicked.unwrap_err().downcast_ref::<&str>(),
        Some(&"on purpose")
    );
    assert_eq!(var.read_atomic(), "as it was");
    atomically(|tx| var.write(tx, "and it goes on".to_owned()));
    assert_eq!(var.read_atomic(), "and it goes on");
}

#[test]
fn what_is_promised_is_done_once_in_order_after_the_commit() {
    let var = TVar::new(0);
    let done = Rc::new(Cell::new(0));
    let tries = Cell::new(0);
    atomically(|tx| {
        tries.set(tries.get() + 1);
        let (promise, var) = (Rc::clone(&done), var.clone());
        var.write(tx, 1)?;
        tx.or_else(
            |tx| {
                tx.after_commit(|| unreachable!("it was given up"));
                retry()
            },
            |_| Ok(()),
        )?;
        tx.after_commit(move || {
            // The commit can be seen, and there is no transaction any more.
            assert_eq!(var.read_atomic(), 1);
            promise.set(promise.get() * 10 + 1);
        });
        let promise = Rc::clone(&done);
        tx.after_commit(move || promise.set(promise.get() * 10 + 2));
        if tries.get() < 3 {
            return Err(StmError::Failure);
        }
        assert_eq!(done.get(), 0);
        Ok(())
    });
    assert_eq!((tries.get(), done.get()), (3, 12));
}

#[test]
fn a_promise_of_a_transaction_that_only_reads_is_kept_too() {
    let (var, done) = (TVar::new(1), Rc::new(Cell::new(false)));
    atomically(|tx| {
        let done = Rc::clone(&done);
        tx.after_commit(move || done.set(true));
        var.read(tx)
    });
    assert!(done.get());
}

#[test]
fn a_transaction_within_another_is_refused() {
    let var = TVar::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        atomically(|tx| {
            var.write(tx, 2)?;
            Ok(atomically(|tx| var.read(tx)))
        })
    }));
    let why = panicked.unwrap_err();
    let why = why.downcast_ref::<&str>().expect("a message");
    assert!(why.contains("give the inner one its `tx`"), "{why}");
    assert_eq!(var.read_atomic(), 1, "and another one is possible");
}

/// ```text
/// main      ── spawn ─────────────── write x ── join
/// waiter    ── read x, y: retry ═════════╧═ returns
/// ```
#[test]
fn retry_sleeps_until_something_changes_that_was_read() {
    let (x, y) = (TVar::new(0), TVar::new(0));
    let (here, there) = mpsc::channel();
    let runs = Arc::new(AtomicU32::new(0));
    let waiter = {
        let (x, y, runs) = (x.clone(), y.clone(), Arc::clone(&runs));
        std::thread::spawn(move || {
            atomically(|tx| {
                runs.fetch_add(1, SeqCst);
                let sum = x.read(tx)? + y.read(tx)?;
                let _ = here.send(());
                guard(sum > 0)?;
                Ok(sum)
            })
        })
    };
    there.recv().expect("it has read");
    atomically(|tx| x.write(tx, 3));
    assert_eq!(waiter.join().unwrap(), 3);
    assert!(runs.load(SeqCst) <= 3, "it slept");
}

/// ```text
/// waiter ── (read x: retry) or else (read y: retry) ═════ returns
/// main   ──────────────────────────── write x ──╧── join
/// ```
#[test]
fn what_the_first_alternative_read_wakes_too() {
    for first in [true, false] {
        let (x, y) = (TVar::new(0), TVar::new(0));
        let (here, there) = mpsc::channel();
        let waiter = {
            let (x, y) = (x.clone(), y.clone());
            std::thread::spawn(move || {
                atomically(|tx| {
                    tx.or_else(
                        |tx| take(tx, &x),
                        |tx| {
                            let now = y.read(tx)?;
                            let _ = here.send(());
                            guard(now > 0)?;
                            Ok(now + 100)
                        },
                    )
                })
            })
        };
        there.recv().expect("it has read both");
        let var = if first { &x } else { &y };
        atomically(|tx| var.write(tx, 1));
        assert_eq!(waiter.join().unwrap(), if first { 1 } else { 101 });
    }
}
