//! What a workload is: a name, and a function from a setting to a measurement.

use std::{panic, process, time::Instant};

use reenact::actor::System;
use serde::{Deserialize, Serialize};

use crate::cores::Cores;

/// A program to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name on the command line and, without its core count, in the results.
    pub name: &'static str,
    program: Program,
}

/// What a program runs on.
#[derive(Clone, Copy, Debug)]
enum Program {
    /// Threads that it starts itself.
    Threads(fn(&Setting) -> Measured),
    /// The workers of a system of actors, which it is given.
    Actors(fn(System, &Setting) -> Measured),
}

impl Workload {
    /// A program that starts its own threads.
    pub const fn threads(name: &'static str, run: fn(&Setting) -> Measured) -> Self {
        let program = Program::Threads(run);
        Self { name, program }
    }

    /// A program of actors.
    pub const fn actors(name: &'static str, run: fn(System, &Setting) -> Measured) -> Self {
        let program = Program::Actors(run);
        Self { name, program }
    }

    /// Runs the program once and checks its result.
    pub fn run(&self, setting: &Setting) -> Measured {
        match self.program {
            Program::Threads(run) => run(setting),
            Program::Actors(run) => {
                let system = System::new(setting.threads_or(Cores::All.count()));
                let measured = run(system, setting);
                system.shut_down();
                measured
            }
        }
    }
}

/// Ends the process when any thread panics. What a turn of an actor panics with is caught, and the others would wait
/// for that actor's messages for ever.
pub fn end_with_any_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::exit(101);
    }));
}

/// How large a run is.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Multiplies the amount of work; 1 is the size of a full benchmark run.
    pub scale: f64,
    /// Overrides the number of threads of a program that has one to choose; for a program of actors, the number of
    /// workers, which is otherwise that of the cores.
    pub threads: Option<usize>,
}

impl Setting {
    /// `base` pieces of work at this scale, at least one.
    pub fn times(&self, base: u64) -> u64 {
        ((base as f64 * self.scale).round() as u64).max(1)
    }

    /// The number of threads, where the program itself would take `default`.
    pub fn threads_or(&self, default: usize) -> usize {
        self.threads.unwrap_or(default).max(1)
    }

    /// The smallest setting, for tests.
    #[cfg(test)]
    pub(crate) fn tiny() -> Self {
        Self {
            scale: 0.002,
            threads: None,
        }
    }
}

/// What one run gives: the line that `reenact-bench-round` prints.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Wall time of the work, without its preparation and without the start of the process.
    pub ns: u64,
    /// Operations that recording has to order: a lock taken (again, after a wait), a message sent
    /// or received, an atomic operation. Unlocking and notifying are not counted.
    pub ops: u64,
    /// How much more memory was resident after the work than before, where that is what is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
}

impl Measured {
    /// Times `work`, which returns its number of operations.
    pub fn around(work: impl FnOnce() -> u64) -> Self {
        let start = Instant::now();
        let ops = work();
        Self {
            ns: u64::try_from(start.elapsed().as_nanos()).expect("no run takes 584 years"),
            ops,
            rss_bytes: None,
        }
    }
}
