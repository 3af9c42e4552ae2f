//! Programs of processes and channels, on [`reenact::csp`].
//!
//! Three programs of the Savina suite, which the papers adapted from actors. They are written once and run twice, by
//! [light processes](reenact::csp::spawn) and by plain threads that meet at the same channels; the package `peers` compiles
//! the same files against other channels.

mod on_processes;
mod on_threads;
pub mod sizes;

use sizes::{Program, Size};

use crate::{Measured, Setting, Workload};

pub use crate::savina::work;

macro_rules! workloads {
    ($suffix:literal, $run:ident: $($program:ident)*) => {
        [$(Workload::threads(concat!(stringify!($program), $suffix), |setting| {
            $run(Program::$program, setting)
        })),*]
    };
}

/// The programs by light processes, in the order of the tables.
pub const BY_PROCESSES: [Workload; Program::ALL.len()] =
    workloads!("-processes", by_processes: PingPong ForkJoinThroughput Philosophers);

/// The programs by threads, in the order of the tables.
pub const BY_THREADS: [Workload; Program::ALL.len()] =
    workloads!("-threads", by_threads: PingPong ForkJoinThroughput Philosophers);

fn by_processes(program: Program, setting: &Setting) -> Measured {
    on_processes::run(Size::of(program, setting.scale))
}

fn by_threads(program: Program, setting: &Setting) -> Measured {
    on_threads::run(Size::of(program, setting.scale))
}

#[cfg(test)]
mod tests {
    use super::{BY_PROCESSES, BY_THREADS, sizes::Program};

    #[test]
    fn every_program_is_a_workload_of_its_name_for_processes_and_for_threads() {
        for (number, program) in Program::ALL.iter().enumerate() {
            let name = program.name();
            assert_eq!(BY_PROCESSES[number].name, format!("{name}-processes"));
            assert_eq!(BY_THREADS[number].name, format!("{name}-threads"));
        }
    }
}
