//! On how many cores a process runs.
//!
//! The paper restricts its measurements to one thread of parallelism, so that contention does not
//! hide the cost of tracing. Here that means one core for the whole process, with as many threads
//! as the program likes.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// One core or all that the machine gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// All threads of the process share one core.
    One,
    /// The process keeps the cores it was started with.
    All,
}

impl Cores {
    /// Applies to the calling thread and to every thread and process that it starts from now on.
    ///
    /// Of the allowed cores, [`Cores::One`] takes the last, because the first one usually serves
    /// the interrupts.
    pub fn apply(self) -> io::Result<()> {
        if self == Self::All {
            return Ok(());
        }
        let allowed = sched_getaffinity(None)?;
        let last = (0..CpuSet::MAX_CPU)
            .rev()
            .find(|&cpu| allowed.is_set(cpu))
            .ok_or_else(|| io::Error::other("this process may run on no core"))?;
        let mut one = CpuSet::new();
        one.set(last);
        Ok(sched_setaffinity(None, &one)?)
    }

    /// How many that are.
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::All => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
