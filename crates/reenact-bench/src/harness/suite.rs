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
            Self::Csp => &[
                Metric::OffPeer(Peer::Crossbeam),
                Metric::OffPeer(Peer::Std),
                Metric::OffPeer(Peer::May),
                Metric::OffPeer(Peer::MayMpsc),
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerOp,
                Metric::Control,
            ],
            Self::Stm => &[
                Metric::OffPeer(Peer::Stm),
                Metric::OffPeer(Peer::FastStm),
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerOp,
                Metric::Control,
            ],
            Self::Mixed => &[
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerOp,
                Metric::Control,
            ],
            // The service has columns of its own, besides.
            Self::Http => &[
                Metric::OffStd,
                Metric::RecordOff,
                Metric::DiscardOff,
                Metric::ReplayRecord,
                Metric::BytesPerOp,
                Metric::Control,
            ],
            // They have columns of their own.
            Self::Ambient | Self::Explore | Self::ExplorePeers | Self::Instructions | Self::All => {
                &[]
            }
        }
    }

    /// The other libraries that it needs.
    pub(super) fn peers(self) -> Vec<Peer> {
        let peer = |metric: &Metric| match metric {
            Metric::OffPeer(peer) => Some(*peer),
            _ => None,
        };
        self.metrics().iter().filter_map(peer).collect()
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
