//! The variants of a comparison, and the order in which a round runs them.

use std::fmt;

/// One way to run a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Compiled against the standard library.
    Std,
    /// Compiled against Reenact, which is off.
    Off,
    /// The same again, for the control.
    OffAgain,
    /// Recording, with the trace written to a file.
    Record,
    /// Recording, with full buffers thrown away.
    Discard,
    /// Replaying the trace that [`Variant::Record`] wrote in the same round.
    Replay,
    /// The same program on another library.
    Peer(Peer),
}

/// A library that Reenact is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// Actors that are tokio tasks.
    Kameo,
    /// Actors that are tokio tasks, after Erlang's.
    Ractor,
    /// Actors that belong to a thread.
    Actix,
    /// Tasks and channels, without actors.
    Tokio,
    /// Threads and a channel without capacity.
    Crossbeam,
    /// The same of the standard library.
    Std,
    /// Coroutines, with a rendezvous made of its channels.
    May,
    /// Coroutines and a channel that does not wait.
    MayMpsc,
    /// Transactions.
    Stm,
    /// Transactions, made from that.
    FastStm,
}

impl Peer {
    /// The name on the command line of `peer-round`, and in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kameo => "kameo",
            Self::Ractor => "ractor",
            Self::Actix => "actix",
            Self::Tokio => "tokio",
            Self::Crossbeam => "crossbeam",
            Self::Std => "std",
            Self::May => "may",
            Self::MayMpsc => "may-mpsc",
            Self::Stm => "stm",
            Self::FastStm => "fast-stm",
        }
    }
}

impl Variant {
    /// These variants in the order of round `round`.
    ///
    /// Everything takes its turn at being first, except that a replay follows its recording.
    pub fn order(variants: &[Self], round: usize) -> Vec<Self> {
        let mut order = variants.to_vec();
        order.retain(|&variant| variant != Self::Replay);
        let first = round % order.len().max(1);
        order.rotate_left(first);
        let record = order.iter().position(|&v| v == Self::Record);
        if let Some(record) = record
            && variants.contains(&Self::Replay)
        {
            order.insert(record + 1, Self::Replay);
        }
        order
    }

    /// Which implementation the runner is asked for.
    pub fn implementation(self) -> &'static str {
        match self {
            Self::Std => "std",
            Self::Peer(peer) => peer.name(),
            _ => "reenact",
        }
    }

    /// The value of `REENACT`, where it is set.
    pub fn mode(self) -> Option<&'static str> {
        match self {
            Self::Std | Self::Off | Self::OffAgain | Self::Peer(_) => None,
            Self::Record | Self::Discard => Some("record"),
            Self::Replay => Some("replay"),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Std => "std",
            Self::Off => "off",
            Self::OffAgain => "off again",
            Self::Record => "record",
            Self::Discard => "discard",
            Self::Replay => "replay",
            Self::Peer(peer) => peer.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::Variant;
    use crate::harness::{Effort, Suite, plan::benches};

    #[test]
    fn a_round_has_every_variant_once_and_a_replay_follows_its_recording() {
        for &suite in Suite::value_variants() {
            for bench in benches(suite, Effort::Full) {
                for round in 0..10 {
                    let order = Variant::order(bench.variants, round);
                    let mut sorted = order.clone();
                    let mut wanted = bench.variants.to_vec();
                    sorted.sort();
                    wanted.sort();
                    assert_eq!(sorted, wanted);
                    let record = order.iter().position(|&v| v == Variant::Record);
                    assert!(record.is_none_or(|at| order[at + 1] == Variant::Replay));
                }
            }
        }
    }
}
