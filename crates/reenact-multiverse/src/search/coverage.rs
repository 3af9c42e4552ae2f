//! What a search has covered.

use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

use super::Reduction;

/// A bound that a search reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Maximum number of universes.
    States(usize),
    /// Maximum depth.
    Depth(u32),
    /// Maximum time.
    Time(Duration),
    /// Maximum memory.
    Bytes(usize),
    /// There are no more numbers for edges.
    Edges,
    /// The progress listener cancelled the search.
    Cancelled,
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::States(states) => write!(out, "at {states} {}", universes(*states)),
            Bound::Depth(1) => write!(out, "after 1 step in a row"),
            Bound::Depth(depth) => write!(out, "after {depth} steps in a row"),
            Bound::Time(time) => write!(out, "after {time:?}"),
            Bound::Bytes(bytes) => write!(out, "at {bytes} bytes of memory"),
            Bound::Edges => write!(out, "at 4294967294 edges"),
            Bound::Cancelled => write!(out, "when it was cancelled"),
        }
    }
}

fn universes(count: usize) -> &'static str {
    if count == 1 { "universe" } else { "universes" }
}

/// How much of a program's behaviour a search has covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    pub(super) stopped_by: Vec<Bound>,
    pub(super) left: usize,
    pub(super) reduction: Reduction,
    pub(super) is_until: bool,
}

impl Coverage {
    /// Returns whether no bound was reached. What a reduction or [`Search::until`](super::Search::until) omits is not
    /// missing.
    pub fn is_complete(&self) -> bool {
        self.stopped_by.is_empty()
    }

    /// The bounds that were reached.
    pub fn stopped_by(&self) -> &[Bound] {
        &self.stopped_by
    }

    /// The number of universes that were seen but not fully expanded because of a bound.
    pub fn left(&self) -> usize {
        self.left
    }

    /// The reduction that was used.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// Returns whether every universe is known, and none is missing because of a bound or a reduction.
    pub fn has_every_universe(&self) -> bool {
        let visits_all = match self.reduction {
            Reduction::None => true,
            Reduction::SleepSets => !self.is_until,
            Reduction::Persistent => false,
        };
        self.is_complete() && visits_all
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            write!(out, "complete")?;
        }
        for (number, bound) in self.stopped_by.iter().enumerate() {
            let before = if number == 0 { "stopped " } else { " and " };
            write!(out, "{before}{bound}")?;
        }
        if !self.is_complete() {
            let left = self.left;
            let verb = if left == 1 { "was" } else { "were" };
            let universes = universes(left);
            write!(out, "; {left} {universes} {verb} seen and not expanded")?;
        }
        match self.reduction {
            Reduction::None => Ok(()),
            Reduction::SleepSets if self.is_until => {
                write!(out, "; reduced: not every place to stop at")
            }
            Reduction::SleepSets => write!(out, "; reduced: every universe, not every step"),
            Reduction::Persistent => write!(out, "; reduced: every end, not every universe"),
        }
    }
}

impl Serialize for Coverage {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_str(self)
    }
}
