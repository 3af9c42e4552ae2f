//! What a suite consists of: benches, their sizes, and how many rounds there are.

use std::time::Duration;

use clap::ValueEnum;

use super::{
    metric::Metric,
    variant::{Peer, Variant},
};
use crate::{cores::Cores, savina};

/// A group of benches that is run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Threads and locks.
    Locks,
    /// Actors.
    Savina,
    /// Actors against other libraries for them, which have to be built for it.
    SavinaPeers,
    /// Everything that is Reenact's own.
    All,
}

impl Suite {
    /// The name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Locks => "locks",
            Self::Savina => "savina",
            Self::SavinaPeers => "savina-peers",
            Self::All => "all",
        }
    }

    /// The suites that it consists of.
    pub(super) fn parts(self) -> Vec<Self> {
        match self {
            Self::All => vec![Self::Locks, Self::Savina],
            one => vec![one],
        }
    }

    /// The columns of its table, in order.
    pub(super) fn metrics(self) -> &'static [Metric] {
        match self {
            Self::Locks => &[
                Metric::OffStd,
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerOp,
                Metric::Control,
            ],
            Self::Savina => &[
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerMessage,
                Metric::Control,
            ],
            Self::SavinaPeers => &[
                Metric::OffPeer(Peer::Kameo),
                Metric::OffPeer(Peer::Ractor),
                Metric::OffPeer(Peer::Actix),
                Metric::OffPeer(Peer::Tokio),
                Metric::Control,
            ],
            Self::All => &[],
        }
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
    /// At scale 1, the papers' programs take half a second on one core and the micro benches up
    /// to a tenth. Rounds are shorter and more: measured on a two-core virtual machine, the ratio
    /// of two neighbouring runs spreads as much for 500 ms as for 100 ms, so that in a given time
    /// the median of many short rounds is the better one.
    fn scale(self, kind: Kind) -> f64 {
        match (self, kind) {
            (Self::Quick, Kind::Locks) => 0.1,
            (Self::Quick, Kind::Micro) => 0.3,
            (Self::Quick, Kind::Actors) => 0.04,
            (Self::Quick, Kind::Peers) => 0.15,
            (Self::Full, Kind::Locks | Kind::Actors) => 0.25,
            (Self::Full, Kind::Micro) => 1.0,
            (Self::Full, Kind::Peers) => 0.5,
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

/// What a bench is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program with locks that the papers measure.
    Locks,
    /// A primitive on its own. It counts for no mean.
    Micro,
    /// A program of actors that the papers measure.
    Actors,
    /// The same against other libraries.
    Peers,
}

/// How actors are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The receiver says whose message was next, which is what Reenact does unless told otherwise.
    Receiver,
    /// The sender says which message of its receiver this was.
    Sender,
}

/// A workload at a size, on a number of cores, and the variants that are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bench {
    pub(super) workload: &'static str,
    pub(super) kind: Kind,
    pub(super) cores: Cores,
    pub(super) strategy: Strategy,
    pub(super) variants: &'static [Variant],
    pub(super) scale: f64,
}

impl Bench {
    /// The name in the results.
    pub(super) fn name(&self) -> String {
        match self.group() {
            None => self.workload.to_owned(),
            Some(group) => format!("{}@{group}", self.workload),
        }
    }

    /// What follows the name: the benches that share a mean. The micro benches have one core count each, and do not name
    /// it.
    pub(super) fn group(&self) -> Option<&'static str> {
        match (self.kind, self.cores, self.strategy) {
            (Kind::Micro, _, _) => None,
            (_, Cores::All, Strategy::Receiver) => Some("all"),
            (Kind::Locks, Cores::One, _) => Some("1core"),
            (_, Cores::One, Strategy::Receiver) => Some("1"),
            (_, Cores::One, Strategy::Sender) => Some("1/sender"),
            (_, Cores::All, Strategy::Sender) => Some("all/sender"),
        }
    }

    /// The scale at which its trace is measured, if not in the rounds: in a short trace the header would weigh too much.
    /// Programs of actors write so many more events that it does not.
    pub(super) fn scale_of_trace(&self) -> Option<f64> {
        match self.kind {
            Kind::Locks => Some(1.0),
            Kind::Micro => Some(self.scale),
            Kind::Actors | Kind::Peers => None,
        }
    }
}

const LOCKS: &[Variant] = &[
    Variant::Std,
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
    Variant::Replay,
];
const ACTORS: &[Variant] = &[
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
    Variant::Replay,
];
const SENDER: &[Variant] = &[Variant::Off, Variant::Record, Variant::Replay];
const PEERS: &[Variant] = &[
    Variant::Off,
    Variant::Peer(Peer::Kameo),
    Variant::Peer(Peer::Ractor),
    Variant::OffAgain,
    Variant::Peer(Peer::Actix),
    Variant::Peer(Peer::Tokio),
];

/// The benches of a suite; none for one that has parts.
pub(super) fn benches(suite: Suite, effort: Effort) -> Vec<Bench> {
    let bench = |kind, workload, cores, variants| Bench {
        workload,
        kind,
        cores,
        strategy: Strategy::Receiver,
        variants,
        scale: effort.scale(kind),
    };
    match suite {
        Suite::Locks => {
            let mut benches = vec![
                bench(Kind::Micro, "mutex-uncontended", Cores::One, LOCKS),
                bench(Kind::Micro, "mutex-contended", Cores::All, LOCKS),
                bench(Kind::Micro, "rwlock-read", Cores::One, LOCKS),
                bench(Kind::Micro, "atomic-fetch-add", Cores::One, LOCKS),
                bench(Kind::Micro, "channel", Cores::All, LOCKS),
            ];
            for cores in [Cores::One, Cores::All] {
                for workload in ["philosophers", "producer-consumer", "lee", "vacation"] {
                    benches.push(bench(Kind::Locks, workload, cores, LOCKS));
                }
            }
            benches
        }
        Suite::Savina => {
            let on = |cores, strategy, variants| {
                savina::PROGRAMS.iter().map(move |program| Bench {
                    strategy,
                    scale: effort.scale(Kind::Actors) * enlarged(program.name),
                    ..bench(Kind::Actors, program.name, cores, variants)
                })
            };
            on(Cores::One, Strategy::Receiver, ACTORS)
                .chain(on(Cores::All, Strategy::Receiver, ACTORS))
                .chain(on(Cores::One, Strategy::Sender, SENDER))
                .collect()
        }
        Suite::SavinaPeers => [Cores::One, Cores::All]
            .into_iter()
            .flat_map(|cores| {
                let programs = savina::sizes::Program::ALL.into_iter();
                programs.map(move |program| bench(Kind::Peers, program.name(), cores, PEERS))
            })
            .collect(),
        Suite::All => Vec::new(),
    }
}

/// By how much a program that has its size from the peers is enlarged where it is not compared with them: there it is
/// large enough for them to take half a second, here it should be so for us.
fn enlarged(program: &str) -> f64 {
    match program {
        "ForkJoinThroughput" => 1.5,
        shared if savina::sizes::Program::from_name(shared).is_some() => 4.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Effort, Suite, benches};
    use crate::{harness::Variant, on_reenact, on_std, savina};

    #[test]
    fn every_bench_has_a_workload() {
        for suite in [Suite::Locks, Suite::Savina, Suite::SavinaPeers] {
            for bench in benches(suite, Effort::Full) {
                let has = |w: &crate::Workload| w.name == bench.workload;
                let ours = on_reenact::WORKLOADS.iter().chain(savina::WORKLOADS);
                assert!(ours.clone().any(has), "{}", bench.workload);
                if bench.variants.contains(&Variant::Std) {
                    assert!(on_std::WORKLOADS.iter().any(has), "{}", bench.workload);
                }
            }
        }
    }

    #[test]
    fn every_program_is_measured_on_one_worker_and_on_all_and_by_both_strategies() {
        let benches = benches(Suite::Savina, Effort::Quick);
        let names: Vec<_> = benches.iter().map(super::Bench::name).collect();
        assert_eq!(names.len(), 3 * savina::PROGRAMS.len());
        for name in ["PingPong@1", "PingPong@all", "PingPong@1/sender"] {
            assert!(names.iter().any(|its| its == name), "{name}");
        }
    }
}
