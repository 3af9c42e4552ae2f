//! What a suite consists of: benches, their sizes, and how many rounds there are.

use std::time::Duration;

use clap::ValueEnum;

use crate::cores::Cores;

/// A group of benches that is run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Threads and locks.
    Locks,
    /// Everything there is.
    All,
}

impl Suite {
    /// The name in the results. As long as there is one suite, `all` is that one.
    pub fn name(self) -> &'static str {
        "locks"
    }
}

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
    pub(super) fn rounds(self) -> usize {
        match self {
            Self::Quick => 11,
            Self::Full => 31,
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
    /// At scale 1, the papers' programs take half a second on one core and the micro benches up
    /// to a tenth. Rounds are shorter and more: measured on a two-core virtual machine, the ratio
    /// of two neighbouring runs spreads as much for 500 ms as for 100 ms, so that in a given time
    /// the median of many short rounds is the better one.
    fn scale(self, kind: Kind) -> f64 {
        match (self, kind) {
            (Self::Quick, Kind::Papers) => 0.1,
            (Self::Quick, Kind::Micro) => 0.3,
            (Self::Full, Kind::Papers) => 0.25,
            (Self::Full, Kind::Micro) => 1.0,
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

/// Whether a bench counts for the geometric means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of the programs that the papers measure.
    Papers,
    /// A primitive on its own.
    Micro,
}

/// A workload at a size, on a number of cores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bench {
    pub(super) workload: &'static str,
    pub(super) kind: Kind,
    pub(super) cores: Cores,
    pub(super) scale: f64,
}

impl Bench {
    /// The name in the results. The micro benches have one core count each, and do not name it.
    pub(super) fn name(&self) -> String {
        match self.kind {
            Kind::Micro => self.workload.to_owned(),
            Kind::Papers => format!("{}@{}", self.workload, self.count()),
        }
    }

    /// The core count as it stands in names.
    pub(super) fn count(&self) -> &'static str {
        match self.cores {
            Cores::One => "1core",
            Cores::All => "all",
        }
    }
}

/// The benches of the suite `locks`.
pub(super) fn benches(effort: Effort) -> Vec<Bench> {
    let bench = |kind, workload, cores| Bench {
        workload,
        kind,
        cores,
        scale: effort.scale(kind),
    };
    let mut benches = vec![
        bench(Kind::Micro, "mutex-uncontended", Cores::One),
        bench(Kind::Micro, "mutex-contended", Cores::All),
        bench(Kind::Micro, "rwlock-read", Cores::One),
        bench(Kind::Micro, "atomic-fetch-add", Cores::One),
        bench(Kind::Micro, "channel", Cores::All),
    ];
    for cores in [Cores::One, Cores::All] {
        for workload in ["philosophers", "producer-consumer", "lee", "vacation"] {
            benches.push(bench(Kind::Papers, workload, cores));
        }
    }
    benches
}

#[cfg(test)]
mod tests {
    use super::{Effort, benches};
    use crate::{on_reenact, on_std};

    #[test]
    fn every_bench_has_a_workload() {
        for bench in benches(Effort::Full) {
            for workloads in [on_std::WORKLOADS, on_reenact::WORKLOADS] {
                assert!(workloads.iter().any(|w| w.name == bench.workload));
            }
        }
    }
}
