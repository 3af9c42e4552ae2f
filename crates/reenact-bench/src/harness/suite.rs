//! The suites: what they are called, what they consist of, and what their tables show.

use clap::ValueEnum;

use super::{metric::Metric, variant::Peer};

/// A group of benches that is run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Threads and locks.
    Locks,
    /// Actors.
    Savina,
    /// Actors against other libraries for them, which have to be built for it.
    SavinaPeers,
    /// Processes and channels, and other libraries for them.
    Csp,
    /// Transactions, and other libraries for them.
    Stm,
    /// A program of actors, processes, transactions and threads.
    Mixed,
    /// A web service under load, which has to be built for it.
    Http,
    /// The universes of AmbientTalk programs.
    Ambient,
    /// Executions of small programs of threads.
    Explore,
    /// The same against other libraries that explore, which have to be built for it.
    ExplorePeers,
    /// Instructions per operation, counted by valgrind.
    Instructions,
    /// Everything but the comparisons of actors and of explorations with other libraries.
    All,
}

impl Suite {
    /// The name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Locks => "locks",
            Self::Savina => "savina",
            Self::SavinaPeers => "savina-peers",
            Self::Csp => "csp",
            Self::Stm => "stm",
            Self::Mixed => "mixed",
            Self::Http => "http",
            Self::Ambient => "ambient",
            Self::Explore => "explore",
            Self::ExplorePeers => "explore-peers",
            Self::Instructions => "instructions",
            Self::All => "all",
        }
    }

    /// The suites that it consists of.
    pub(super) fn parts(self) -> Vec<Self> {
        match self {
            Self::All => vec![
                Self::Locks,
                Self::Savina,
                Self::Csp,
                Self::Stm,
                Self::Mixed,
                Self::Http,
                Self::Ambient,
                Self::Explore,
                Self::Instructions,
            ],
            one => vec![one],
        }
    }

    /// The columns of its table, in order. Suites that are not here have columns of their own; the service has some of
    /// its own besides.
    pub(super) fn metrics(self) -> Vec<Metric> {
        use Metric::{BytesPerMessage, BytesPerOp, Control, OffPeer, OffStd};
        use Peer::{Actix, Crossbeam, FastStm, Kameo, May, MayMpsc, Ractor, Std, Stm, Tokio};

        let recorded = |bytes| {
            [
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                bytes,
                Control,
            ]
        };
        let against = |peers: &[Peer]| peers.iter().copied().map(OffPeer).collect::<Vec<_>>();
        match self {
            Self::Locks | Self::Http => [&[OffStd][..], &recorded(BytesPerOp)].concat(),
            Self::Savina => recorded(BytesPerMessage).to_vec(),
            Self::SavinaPeers => [against(&[Kameo, Ractor, Actix, Tokio]), vec![Control]].concat(),
            Self::Csp => {
                let peers = against(&[Crossbeam, Std, May, MayMpsc]);
                [&peers[..], &recorded(BytesPerOp)].concat()
            }
            Self::Stm => [&against(&[Stm, FastStm])[..], &recorded(BytesPerOp)].concat(),
            Self::Mixed => recorded(BytesPerOp).to_vec(),
            Self::Ambient | Self::Explore | Self::ExplorePeers | Self::Instructions | Self::All => {
                Vec::new()
            }
        }
    }

    /// The other libraries that it needs.
    pub(super) fn peers(self) -> Vec<Peer> {
        let peer = |metric| match metric {
            Metric::OffPeer(peer) => Some(peer),
            _ => None,
        };
        self.metrics().into_iter().filter_map(peer).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::Suite;

    #[test]
    fn a_suite_goes_by_the_same_name_on_the_command_line_and_in_the_results() {
        for suite in Suite::value_variants() {
            let on_the_command_line = suite.to_possible_value().unwrap();
            assert_eq!(on_the_command_line.get_name(), suite.name());
        }
    }
}
