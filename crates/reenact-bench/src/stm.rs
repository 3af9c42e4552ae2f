//! Programs of threads and transactions, on [`reenact::stm`].
//!
//! The papers' two programs that were made to compare transactions with locks, and two small ones. They are written
//! once, in the names of the crate `stm`, and the package `peers` compiles the same files against that crate and another.

mod on_reenact;
mod program;

use crate::Workload;

pub use program::Program;

/// The programs, in the order of the tables.
pub const PROGRAMS: [Workload; Program::ALL.len()] = [
    Workload::threads("stm/lee", |setting| on_reenact::run(Program::Lee, setting)),
    Workload::threads("stm/vacation", |setting| {
        on_reenact::run(Program::Vacation, setting)
    }),
    Workload::threads("stm/bank", |setting| {
        on_reenact::run(Program::Bank, setting)
    }),
    Workload::threads("stm/counter-shared", |setting| {
        on_reenact::run(Program::CounterShared, setting)
    }),
    Workload::threads("stm/counter-own", |setting| {
        on_reenact::run(Program::CounterOwn, setting)
    }),
];

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, Program};

    #[test]
    fn every_program_is_a_workload_of_its_name() {
        for (program, workload) in Program::ALL.iter().zip(&PROGRAMS) {
            assert_eq!(workload.name, format!("stm/{}", program.name()));
        }
    }
}
