//! What a workload is: a name, and a function from a setting to a measurement.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// A program to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name on the command line and, without its core count, in the results.
    pub name: &'static str,
    /// Runs the program once and checks its result.
    pub run: fn(&Setting) -> Measured,
}

/// How large a run is.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Multiplies the amount of work; 1 is the size of a full benchmark run.
    pub scale: f64,
    /// Overrides the number of threads of a program that has one to choose.
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
}

impl Measured {
    /// Times `work`, which returns its number of operations.
    pub fn around(work: impl FnOnce() -> u64) -> Self {
        let start = Instant::now();
        let ops = work();
        Self {
            ns: u64::try_from(start.elapsed().as_nanos()).expect("no run takes 584 years"),
            ops,
        }
    }
}
