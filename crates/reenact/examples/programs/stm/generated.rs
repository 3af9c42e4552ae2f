//! The interpreter of generated programs of transactions: `stm-generated TEXT`.
//!
//! Every thread keeps a digest of all that it sees. No program can hang: a transaction that waits does so for a thread with
//! a lower number, and for no more than that one does.

pub(crate) mod language;

use std::panic::{AssertUnwindSafe, catch_unwind};

use reenact::{
    stm::{TVar, Transaction as Tx, TxError, abort, atomically_or_err, guard, retry},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use self::language::{Action, Program, Transaction, Verb};
use crate::support::{Seen, jitter, parse_and_interpret, run_workers};

pub(super) fn run(name: &str, arguments: &[String]) -> bool {
    name == "stm-generated" && parse_and_interpret(arguments, interpret)
}

struct World {
    program: Program,
    numbers: Vec<TVar<u64>>,
    texts: Vec<TVar<String>>,
    /// How many transactions that say so each thread has done.
    done: Vec<TVar<usize>>,
    lock: Mutex<u64>,
    atomic: AtomicU64,
}

fn interpret(program: Program) {
    let threads = program.threads.len();
    let world = Arc::new(World {
        numbers: (0..program.variables.max(1))
            .map(|_| TVar::default())
            .collect(),
        texts: (0..2).map(|_| TVar::default()).collect(),
        done: (0..threads).map(|_| TVar::default()).collect(),
        lock: Mutex::default(),
        atomic: AtomicU64::default(),
        program,
    });
    let theirs = Arc::clone(&world);
    let digests = run_workers(threads, move |me| {
        let mut seen = Seen::default();
        for (number, transaction) in theirs.program.threads[me].iter().enumerate() {
            jitter();
            perform(&theirs, me, number, transaction, &mut seen);
        }
        seen.digest()
    });
    for (thread, digest) in digests.iter().enumerate() {
        println!("{thread}: {digest:016x}");
    }
    let numbers: Vec<_> = world.numbers.iter().map(TVar::read_atomic).collect();
    let texts: Vec<_> = world.texts.iter().map(TVar::read_atomic).collect();
    println!("{numbers:?} {texts:?}");
}

/// Runs one transaction, and notes how it ended and what it saw.
fn perform(world: &World, me: usize, number: usize, transaction: &Transaction, seen: &mut Seen) {
    let value = (me * 1000 + number) as u64;
    let is_plain = |action: &Action| !matches!(action.verb, Verb::Lock | Verb::Add);
    for action in transaction.0.iter().filter(|action| !is_plain(action)) {
        match action.verb {
            Verb::Lock => {
                let mut guard = world.lock.lock().unwrap();
                *guard = guard.wrapping_mul(3).wrapping_add(value);
                seen.note(*guard);
            }
            _ => seen.note(world.atomic.fetch_add(1, SeqCst)),
        }
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        atomically_or_err(|tx| {
            let mut seen = Vec::new();
            for action in transaction.0.iter().filter(|action| is_plain(action)) {
                act(world, me, value, *action, tx, &mut seen)?;
                jitter();
            }
            Ok(seen)
        })
    }));
    match result {
        Ok(result) => seen.note(result),
        Err(panic) => seen.note(panic.downcast::<String>().expect("ours")),
    }
}

fn act(
    world: &World,
    me: usize,
    value: u64,
    action: Action,
    tx: &mut Tx,
    seen: &mut Vec<u64>,
) -> Result<(), TxError<u64>> {
    let which = action.number;
    let number = &world.numbers[which % world.numbers.len()];
    let other = &world.numbers[(which + 1) % world.numbers.len()];
    let text = &world.texts[which % world.texts.len()];
    match action.verb {
        Verb::Read => seen.push(number.read(tx)?),
        Verb::Write => number.write(tx, value)?,
        Verb::Modify => number.modify(tx, |now| now / 2 + value)?,
        Verb::Move => {
            let now = number.replace(tx, value)?;
            other.write(tx, now)?;
        }
        Verb::All => {
            for number in &world.numbers {
                seen.push(number.read(tx)?);
            }
        }
        Verb::Text => text.modify(tx, |text| {
            let start = text.char_indices().nth_back(8).map_or(0, |(at, _)| at);
            format!("{}{value}", &text[start..])
        })?,
        Verb::Length => seen.push(text.read_with(tx, |text| text.len() as u64)?),
        Verb::Either => seen.push(tx.or_else(
            |tx| {
                let now = number.read(tx)?;
                number.write(tx, now + 1)?;
                guard(now % 2 == 1)?;
                Ok(now)
            },
            |tx| tx.or_else(|_| retry(), |tx| other.replace(tx, value)),
        )?),
        Verb::Abort => {
            let now = number.read(tx)?;
            if now % 2 == 1 {
                return abort(now);
            }
        }
        Verb::Panic => {
            let now = number.read(tx)?;
            assert!(now % 3 != 1, "it was {now}");
        }
        Verb::Done => world.done[me].modify(tx, |done| done + 1)?,
        Verb::Wait => {
            if me > 0 {
                let whom = which % me;
                let most = promised(&world.program.threads[whom]);
                guard(world.done[whom].read(tx)? >= (which / 3).min(most))?;
            }
        }
        Verb::Lock | Verb::Add => {}
    }
    Ok(())
}

/// How many transactions of a thread count as done for sure: that do nothing else.
fn promised(transactions: &[Transaction]) -> usize {
    let is_sure =
        |transaction: &&Transaction| transaction.0.iter().all(|action| action.verb == Verb::Done);
    let sure = transactions.iter().filter(is_sure);
    sure.map(|transaction| transaction.0.len()).sum()
}
