//! How long to measure: rounds, scales and limits.

use std::time::Duration;

use super::{bench::Kind, suite::Suite};
use crate::explored::Way;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// What one runs while working: under 50 seconds.
    Quick,
    /// What is quoted.
    Full,
}

impl Effort {
    /// The number of rounds. The last ones are left out if [`Self::budget`] is spent.
    pub(super) fn rounds(self, suite: Suite) -> usize {
        match (self, suite) {
            (Self::Quick, _) => 11,
            (Self::Full, Suite::Locks) => 31,
            (Self::Full, _) => 15,
        }
    }

    /// How often each trace is measured.
    pub(super) fn traces(self) -> usize {
        match self {
            Self::Quick => 1,
            Self::Full => 3,
        }
    }

    /// The scale of a round.
    ///
    /// At scale 1, the programs take half a second on one core and the micro benches up
    /// to a tenth. Rounds are shorter and more, except where there are few benches: measured on a two-core virtual machine, the ratio
    /// of two neighbouring runs spreads as much for 500 ms as for 100 ms, so that in a given time
    /// the median of many short rounds is the better one.
    pub(super) fn scale(self, kind: Kind) -> f64 {
        match (self, kind) {
            (Self::Quick, Kind::Locks) => 0.1,
            (Self::Quick, Kind::Micro) => 0.3,
            (Self::Quick, Kind::Actors) => 0.04,
            (Self::Quick, Kind::Peers) => 0.15,
            (Self::Full, Kind::Locks | Kind::Actors) => 0.25,
            (Self::Full, Kind::Micro) => 1.0,
            (Self::Full, Kind::Peers) => 0.5,
            (Self::Quick, Kind::Processes | Kind::Transactions) => 0.05,
            (Self::Full, Kind::Processes | Kind::Transactions) => 0.25,
            (Self::Quick, Kind::Mixed) => 0.25,
            (Self::Full, Kind::Mixed) => 1.0,
            (effort, Kind::Threads) => effort.scale(Kind::Processes) * THREADS_SHARE,
        }
    }

    /// The number of rounds of a suite that explores, of which the last ones may be left out too.
    pub(super) fn rounds_of_explorations(self) -> u32 {
        match self {
            Self::Quick => 11,
            Self::Full => 15,
        }
    }

    /// The scale at which Reenact explores: a tenth of a second, or less in a hurry.
    pub(super) fn scale_of_exploration(self, way: Way) -> f64 {
        match (self, way) {
            (Self::Quick, Way::Exhaustive) => 0.05,
            (Self::Full, Way::Exhaustive) => 0.25,
            (Self::Quick, _) => 0.02,
            (Self::Full, _) => 0.4,
        }
    }

    /// The scale at which others draw, which have fewer executions to a scale because they take longer for each.
    pub(super) fn scale_of_peers_draws(self) -> f64 {
        match self {
            Self::Quick => 0.1,
            Self::Full => 0.5,
        }
    }

    /// No round is begun that would end after this time, except the first three. A full run takes
    /// the time it takes: fewer rounds than it has would not be worth quoting.
    pub(super) fn budget(self) -> Option<Duration> {
        match self {
            Self::Quick => Some(Duration::from_secs(42)),
            Self::Full => None,
        }
    }

    /// When a child is given up. Nothing here takes a tenth of that.
    pub(super) fn limit(self) -> Duration {
        match self {
            Self::Quick => Duration::from_secs(10),
            Self::Full => Duration::from_secs(60),
        }
    }
}

/// How much of the work of light processes threads are given. They need a hundred times as long to meet, and more.
pub(super) const THREADS_SHARE: f64 = 0.01;
