//! What it took to execute a program in many ways.
//!
//! `peer-round-traceforge` includes this file.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What executions of a program took, and what came of them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Explored {
    /// Wall time of all executions.
    pub ns: u64,
    /// How many executions there were.
    pub executions: u64,
    /// How many of them had the bug of the program.
    pub bugs: u64,
    /// Whether there are no others. `None` for a library that does not look for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
}

/// How long a library may look for all executions, and how long it does so again and again because a single time would be
/// over too soon to be measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) limit: Duration,
    enough: Duration,
}

impl Patience {
    pub(crate) fn at_scale(scale: f64) -> Self {
        Self {
            limit: Duration::from_secs(60).mul_f64(scale),
            enough: Duration::from_millis(500).mul_f64(scale),
        }
    }

    /// Repeats the search until it has taken enough time. The result is that of one, with its mean time.
    pub(crate) fn repeat(self, mut search: impl FnMut() -> Explored) -> Explored {
        let start = Instant::now();
        let mut all = vec![search()];
        while start.elapsed() < self.enough {
            all.push(search());
        }
        let total: u64 = all.iter().map(|one| one.ns).sum();
        Explored {
            ns: total / all.len() as u64,
            ..all[0]
        }
    }
}
