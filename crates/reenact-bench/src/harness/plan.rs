//! What a suite consists of: its benches.

use super::{
    bench::{Bench, Kind, Strategy},
    effort::Effort,
    suite::Suite,
    variant::{Peer, Variant},
};
use crate::{Workload, cores::Cores, csp, sales, savina, stm};

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

const PROCESSES: &[Variant] = &[
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
    Variant::Peer(Peer::May),
    Variant::Peer(Peer::Crossbeam),
    Variant::Peer(Peer::Std),
    Variant::Peer(Peer::MayMpsc),
    Variant::Replay,
];
const THREADS: &[Variant] = &[
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
    Variant::Peer(Peer::Crossbeam),
    Variant::Peer(Peer::Std),
    Variant::Replay,
];
const TRANSACTIONS: &[Variant] = &[
    Variant::Off,
    Variant::Record,
    Variant::OffAgain,
    Variant::Discard,
    Variant::Peer(Peer::Stm),
    Variant::Peer(Peer::FastStm),
    Variant::Replay,
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
    let on_one_and_all = |kind, workloads: &[Workload], variants| {
        let on = |cores| {
            workloads
                .iter()
                .map(move |w| bench(kind, w.name, cores, variants))
        };
        on(Cores::One).chain(on(Cores::All)).collect::<Vec<_>>()
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
        Suite::Csp => {
            let processes = on_one_and_all(Kind::Processes, &csp::BY_PROCESSES, PROCESSES);
            let threads = on_one_and_all(Kind::Threads, &csp::BY_THREADS, THREADS);
            [processes, threads].concat()
        }
        Suite::Stm => on_one_and_all(Kind::Transactions, &stm::PROGRAMS, TRANSACTIONS),
        Suite::Mixed => on_one_and_all(Kind::Mixed, &[sales::SALES], ACTORS),
        // What a program that serves asks for all the time; the service itself is run in a way of its own.
        Suite::Http => ["clock", "time-of-day"]
            .map(|workload| bench(Kind::Micro, workload, Cores::One, LOCKS))
            .to_vec(),
        Suite::Ambient
        | Suite::Explore
        | Suite::ExplorePeers
        | Suite::Instructions
        | Suite::All => Vec::new(),
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
    use clap::ValueEnum;

    use super::{Effort, Suite, benches};
    use crate::{harness::Variant, on_std, savina, workloads};

    #[test]
    fn every_bench_has_a_workload() {
        for &suite in Suite::value_variants() {
            for bench in benches(suite, Effort::Full) {
                let has = |w: &crate::Workload| w.name == bench.workload;
                assert!(workloads().iter().any(has), "{}", bench.workload);
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
