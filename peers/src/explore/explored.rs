//! What it took to execute a program in many ways.
//!
//! `peer-round-traceforge` and the crate `reenact-bench` include this file, so that there is one form of the line that the
//! harness reads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What executions of a program took, and what came of them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Explored {
    /// Wall time of all executions.
    pub ns: u64,
    /// Processor time of all executions: of what else the machine does, it knows less than the wall time.
    pub cpu_ns: u64,
    /// How many executions there were.
    pub executions: u64,
    /// How many of them had the bug of the program.
    pub bugs: u64,
    /// Whether there are no others. `None` for a library that does not look for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// How many steps they had, if the library counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

/// The time since a moment, by both clocks.
///
/// The kernel is asked and not the standard library: to a program that is explored, what the latter says may be part of
/// what is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    wall: u64,
    cpu: u64,
}

impl Stopwatch {
    /// Since now.
    pub(crate) fn start() -> Self {
        Self {
            wall: read(ClockId::Monotonic),
            cpu: read(ClockId::ProcessCPUTime),
        }
    }

    /// So many executions, of which so many had the bug, have happened since then.
    pub(crate) fn explored(self, executions: u64, bugs: u64) -> Explored {
        Explored {
            ns: self.ns(),
            cpu_ns: read(ClockId::ProcessCPUTime) - self.cpu,
            executions,
            bugs,
            complete: None,
            steps: None,
        }
    }

    fn ns(self) -> u64 {
        read(ClockId::Monotonic) - self.wall
    }
}

fn read(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How long a library may look for all executions, and how long it does so again and again because a single time would be
/// over too soon to be measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// After so long it gives up.
    pub(crate) limit: Duration,
    enough: Duration,
}

impl Patience {
    /// A minute and half a second, at scale 1.
    pub(crate) fn at_scale(scale: f64) -> Self {
        Self {
            limit: Duration::from_secs(60).mul_f64(scale),
            enough: Duration::from_millis(500).mul_f64(scale),
        }
    }

    /// Repeats the search until it has taken enough time. The result is that of one, with its mean time.
    pub(crate) fn repeat(self, mut search: impl FnMut() -> Explored) -> Explored {
        let watch = Stopwatch::start();
        let mut all = vec![search()];
        while u128::from(watch.ns()) < self.enough.as_nanos() {
            all.push(search());
        }
        let mean = |of: fn(&Explored) -> u64| all.iter().map(of).sum::<u64>() / all.len() as u64;
        Explored {
            ns: mean(|one| one.ns),
            cpu_ns: mean(|one| one.cpu_ns),
            ..all[0]
        }
    }
}
