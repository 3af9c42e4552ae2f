//! The programs, compiled once for each implementation of processes and channels.
//!
//! The parent module brings into scope what they are written against, and here nothing else may name where that comes
//! from:
//!
//! - `spawn`, for a process, and what it returns, which can be joined;
//! - `channel`, for a rendezvous channel with one sender, and `channel_from_many`, for one with as many as asked for;
//! - their ends, `Sender` and `Receiver`.

use super::{Receiver, Sender, channel, channel_from_many, spawn};
use crate::{Measured, csp::sizes::Size};

mod fork_join_throughput;
mod philosophers;
mod ping_pong;

/// Runs a program of this size once and checks its result. The operations are rendezvous.
pub(crate) fn run(size: Size) -> Measured {
    match size {
        Size::PingPong { pings } => ping_pong::run(pings),
        Size::ForkJoinThroughput { workers, messages } => {
            fork_join_throughput::run(workers, messages)
        }
        Size::Philosophers {
            philosophers,
            meals,
        } => philosophers::run(philosophers, meals),
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, run};
    use crate::csp::sizes::Program;

    /// Few workers, so that this can also be done by threads.
    const SIZES: [Size; 3] = [
        Size::PingPong { pings: 50 },
        Size::ForkJoinThroughput {
            workers: 20,
            messages: 5,
        },
        Size::Philosophers {
            philosophers: 5,
            meals: 20,
        },
    ];

    #[test]
    fn every_program_checks_out() {
        for size in SIZES {
            assert!(run(size).ops >= size.rendezvous(), "{size:?}");
        }
    }

    #[test]
    fn a_run_of_the_smallest_size_ends() {
        for program in [Program::PingPong, Program::Philosophers] {
            let size = Size::of(program, 0.0);
            assert!(run(size).ops >= size.rendezvous(), "{program:?}");
        }
    }
}
