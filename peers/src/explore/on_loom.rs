//! The programs on loom, which looks for all executions.
//!
//! It ends at the first deadlock, so that it does not have the philosophers who may starve. It explores weak memory too:
//! an atomic has more executions than an interleaving could explain.
//!
//! A smaller stack for the threads than its default of 32 KiB saves a tenth of the time, for it makes new ones for every
//! execution; that of the main thread cannot be chosen. Fewer branches allowed than by default save nothing.

use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{Relaxed, SeqCst},
    },
};

use loom::{
    model::Builder,
    sync::{
        Mutex, MutexGuard,
        atomic::AtomicU64 as Counter,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use super::{
    explored::{Explored, Patience, Stopwatch},
    programs::{Outcome, Program, Shape},
};

#[allow(
    clippy::duplicate_mod,
    reason = "compiling the same source against every library is the comparison"
)]
#[path = "table.rs"]
mod table;

/// Those that it can look for all executions of.
pub(crate) const PROGRAMS: [Program; 6] = [
    Program::Mutex2x3,
    Program::Mutex2x6,
    Program::Philosophers3Ordered,
    Program::Mpsc3x3,
    Program::LostUpdate,
    Program::QueueOrder,
];

/// In words, whatever loom's documentation says.
const STACK: usize = 1024;

/// Looks for all executions of the program, as often as it takes to measure that.
pub(crate) fn run(program: Program, scale: f64) -> Explored {
    let patience = Patience::at_scale(scale);
    patience.repeat(|| search(program, patience))
}

fn search(program: Program, patience: Patience) -> Explored {
    let (executions, bugs) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (counted, found) = (Arc::clone(&executions), Arc::clone(&bugs));
    let watch = Stopwatch::start();
    builder(patience).check(move || {
        let outcome = table::execute(program);
        assert!(program.allows(&outcome), "{outcome:?}");
        counted.fetch_add(1, Relaxed);
        if program.is_bug(&outcome) {
            found.fetch_add(1, Relaxed);
        }
    });
    let explored = watch.explored(executions.load(Relaxed), bugs.load(Relaxed));
    Explored {
        // It does not say why it ended. Before the limit there is only one reason.
        complete: Some(u128::from(explored.ns) < patience.limit.as_nanos()),
        ..explored
    }
}

fn builder(patience: Patience) -> Builder {
    let mut builder = Builder::new();
    builder.max_threads = 4;
    builder.max_duration = Some(patience.limit);
    // How often it looks at the time; there is no file for a checkpoint.
    builder.checkpoint_interval = 100;
    builder
}

fn spawn(thread: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let spawned = thread::Builder::new().stack_size(STACK).spawn(thread);
    spawned.expect("there are no more threads than `max_threads`")
}

include!("std_like.rs");
