//! The programs, compiled once for each implementation of transactions.
//!
//! The parent module brings into scope what they are written against, in the names of the crate `stm` (`TVar`,
//! `Transaction`, `StmResult`, `atomically`), and the `thread` that goes with it. Here nothing else may name where
//! that comes from.
//!
//! Not every implementation keeps a transaction from seeing a state that never was. Such a transaction does not commit, but
//! it must not panic either: what a program asserts, it asserts outside of transactions.

use super::{StmResult, TVar, Transaction, atomically, thread};
use crate::{Measured, Setting, stm::Program};

mod bank;
mod counter;
mod lee;
mod vacation;

/// How many threads a program has by default: as many as in the papers' programs with locks.
const THREADS: usize = 4;

/// Runs a program once and checks its result. The operations are transactions.
pub(crate) fn run(program: Program, setting: &Setting) -> Measured {
    match program {
        Program::Lee => lee::run(setting),
        Program::Vacation => vacation::run(setting),
        Program::Bank => bank::run(setting),
        Program::CounterShared => counter::shared(setting),
        Program::CounterOwn => counter::own(setting),
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, Setting, run};

    #[test]
    fn every_program_checks_out() {
        for program in Program::ALL {
            assert!(run(program, &Setting::tiny()).ops > 0, "{program:?}");
        }
    }

    #[test]
    fn how_many_transactions_there_are_does_not_depend_on_the_schedule() {
        for program in Program::ALL {
            let transactions = || run(program, &Setting::tiny()).ops;
            assert_eq!(transactions(), transactions(), "{program:?}");
        }
    }
}
