//! Transactions.

use reenact::{
    stm::{TVar, abort, atomically, atomically_or_err, guard, retry},
    thread,
};

use crate::oracle::{Chance, Log, Program, compare, explore, seeds};

#[derive(Clone, Debug)]
enum Op {
    Read(usize),
    Write(usize),
    /// Reads these and writes the last one.
    Sum(Vec<usize>),
    /// Goes on when this one is not what it was at first.
    Await(usize, usize),
    /// The first that is not what it was at first, or gives up.
    EitherOr(usize, usize),
    Abort(usize),
    Panic(usize),
}

#[derive(Clone, Debug)]
struct Transactions(Vec<Vec<Op>>);

fn run(op: &Op, mark: i32, variables: &[TVar<i32>]) -> i32 {
    let change = |value: i32| value * 4 + mark;
    match op {
        Op::Read(of) => variables[*of].read_atomic(),
        Op::Write(of) => atomically(|tx| variables[*of].write(tx, mark).map(|()| 0)),
        Op::Sum(of) => atomically(|tx| {
            let mut sum = 0;
            for &of in of {
                sum += variables[of].read(tx)?;
            }
            variables[of[of.len() - 1]].write(tx, change(sum))?;
            Ok(sum)
        }),
        Op::Await(of, then) => atomically(|tx| {
            let value = variables[*of].read(tx)?;
            guard(value != 0)?;
            variables[*then].modify(tx, change)?;
            Ok(value)
        }),
        Op::EitherOr(first, second) => atomically(|tx| {
            let of = |of: usize| {
                let variable = variables[of].clone();
                move |tx: &mut reenact::stm::Transaction| match variable.read(tx)? {
                    0 => retry(),
                    value => Ok(value),
                }
            };
            tx.or_else(of(*first), |tx| tx.or_else(of(*second), |_| Ok(-1)))
        }),
        Op::Abort(of) => {
            let aborted: Result<(), i32> = atomically_or_err(|tx| {
                let value = variables[*of].read(tx)?;
                variables[*of].write(tx, 99)?;
                abort(value)
            });
            aborted.unwrap_err()
        }
        Op::Panic(of) => {
            let of = variables[*of].clone();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                atomically(|tx| -> reenact::stm::StmResult<()> {
                    let value = of.read(tx)?;
                    of.write(tx, 99)?;
                    std::panic::resume_unwind(Box::new(value));
                });
            }));
            match panicked.unwrap_err().downcast::<i32>() {
                Ok(value) => *value,
                Err(other) => std::panic::resume_unwind(other),
            }
        }
    }
}

impl Program for Transactions {
    fn is_exact(&self) -> bool {
        false
    }

    fn run(&self, log: &Log) {
        let variables: Vec<_> = (0..3).map(|_| TVar::new(0)).collect();
        let ops = self.0.iter().cloned().enumerate();
        let threads: Vec<_> = ops
            .map(|(me, ops)| {
                let (variables, log) = (variables.clone(), log.clone());
                thread::spawn(move || {
                    for op in &ops {
                        log.note(me, run(op, me as i32 + 1, &variables));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        for variable in &variables {
            log.note(9, variable.read_atomic());
        }
    }
}

fn op(chance: &mut Chance) -> Op {
    let (one, other) = (chance.below(3), chance.below(3));
    match chance.below(12) {
        0 | 1 => Op::Read(one),
        2 | 3 => Op::Write(one),
        4 | 5 => Op::Sum(chance.some(1..=2, |chance| chance.below(3))),
        6..9 => Op::Await(one, other),
        9 => Op::EitherOr(one, other),
        10 => Op::Abort(one),
        _ => Op::Panic(one),
    }
}

#[test]
fn transactions_agree_with_brute_force() {
    let compared = compare(seeds(200), |chance| {
        Transactions(chance.some(2..=3, |chance| chance.some(1..=3, op)))
    });
    eprintln!("{compared:?}");
    assert!(compared.programs > compared.left_out, "{compared:?}");
}

/// ```text
/// 1 ── a ── a      none has to do with the others
/// 2 ── b ── b
/// 3 ── c ── c
/// ```
#[test]
fn transactions_on_different_variables_do_not_meet() {
    let each = |of| vec![Op::Sum(vec![of]), Op::Sum(vec![of])];
    let found = explore(&Transactions(vec![each(0), each(1), each(2)]));
    assert_eq!(found.executions, 1);
    let found = explore(&Transactions(vec![each(0), each(0)]));
    assert_eq!(found.executions, 6);
    let found = explore(&Transactions(vec![vec![Op::Read(0)], vec![Op::Read(0)]]));
    assert_eq!(found.executions, 1);
}

#[test]
fn who_retries_waits_for_ever_if_nothing_changes() {
    let found = explore(&Transactions(vec![
        vec![Op::Await(0, 1)],
        vec![Op::Sum(vec![1])],
    ]));
    let verdicts: Vec<_> = found.outcomes.iter().map(|(verdict, _)| *verdict).collect();
    assert!(
        verdicts.iter().all(|verdict| verdict.is_bad()),
        "{verdicts:?}"
    );
}
