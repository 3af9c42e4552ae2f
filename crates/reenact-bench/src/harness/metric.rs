//! What is computed from the samples of a bench.

use super::{
    rounds::{Sample, Samples},
    variant::{Peer, Variant},
};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    /// What linking Reenact costs.
    OffStd,
    /// How Reenact compares with another library.
    OffPeer(Peer),
    /// What recording costs, with the trace written to a file.
    RecordOff,
    /// What recording costs without the file.
    DiscardOff,
    /// How long a replay takes.
    ReplayRecord,
    /// How much recording writes for an operation.
    BytesPerOp,
    /// The same, where the operations are messages.
    BytesPerMessage,
    /// What two runs of the same program differ by.
    Control,
}

impl Metric {
    /// The name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OffStd | Self::OffPeer(Peer::Std) => "off/std",
            Self::OffPeer(Peer::Kameo) => "off/kameo",
            Self::OffPeer(Peer::Ractor) => "off/ractor",
            Self::OffPeer(Peer::Actix) => "off/actix",
            Self::OffPeer(Peer::Tokio) => "off/tokio",
            Self::OffPeer(Peer::Crossbeam) => "off/crossbeam",
            Self::OffPeer(Peer::May) => "off/may",
            Self::OffPeer(Peer::MayMpsc) => "off/may-mpsc",
            Self::OffPeer(Peer::Stm) => "off/stm",
            Self::OffPeer(Peer::FastStm) => "off/fast-stm",
            Self::RecordOff => "record/off",
            Self::DiscardOff => "discard/off",
            Self::ReplayRecord => "replay/record",
            Self::BytesPerOp => "bytes/op",
            Self::BytesPerMessage => "bytes/message",
            Self::Control => "control",
        }
    }

    /// Whether it is a quotient of times, for which a geometric mean makes sense.
    pub(super) fn is_ratio(self) -> bool {
        !matches!(self, Self::BytesPerOp | Self::BytesPerMessage)
    }

    /// The unit in the results.
    pub(super) fn unit(self) -> &'static str {
        if self.is_ratio() { "ratio" } else { "bytes" }
    }

    /// The values that the samples have for this metric; none if a variant it needs never ran.
    pub(super) fn values(self, samples: &Samples) -> Vec<f64> {
        if self.is_ratio() {
            let rounds = samples.rounds.iter();
            rounds.filter_map(|round| self.ratio(round)).collect()
        } else {
            samples.bytes_per_op.clone()
        }
    }

    fn ratio(self, sample: &Sample) -> Option<f64> {
        let time = |variant| sample.get(&variant).map(|&ns| ns as f64);
        Some(match self {
            Self::OffStd => off(sample)? / time(Variant::Std)?,
            Self::OffPeer(peer) => off(sample)? / time(Variant::Peer(peer))?,
            Self::RecordOff => time(Variant::Record)? / off(sample)?,
            Self::DiscardOff => time(Variant::Discard)? / off(sample)?,
            Self::ReplayRecord => time(Variant::Replay)? / time(Variant::Record)?,
            Self::Control => time(Variant::OffAgain)? / time(Variant::Off)?,
            Self::BytesPerOp | Self::BytesPerMessage => return None,
        })
    }
}

/// The nanoseconds with Reenact off. Where there are two such runs both are equally good, and their mean is better than
/// either.
pub(super) fn off(sample: &Sample) -> Option<f64> {
    let off = *sample.get(&Variant::Off)? as f64;
    let again = sample.get(&Variant::OffAgain);
    Some(again.map_or(off, |&again| (off + again as f64) / 2.0))
}
