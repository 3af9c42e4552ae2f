//! What is computed from the samples of a bench.

use super::{
    rounds::{Sample, Samples},
    variant::Variant,
};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    /// What linking Reenact costs.
    OffStd,
    /// What recording costs, with the trace written to a file.
    RecordOff,
    /// What recording costs without the file.
    DiscardOff,
    /// How long a replay takes.
    ReplayRecord,
    /// How much recording writes.
    BytesPerOp,
    /// What two runs of the same thing differ by.
    Control,
}

impl Metric {
    /// All metrics, in the order of the table.
    pub(super) const ALL: [Self; 6] = [
        Self::OffStd,
        Self::RecordOff,
        Self::DiscardOff,
        Self::ReplayRecord,
        Self::BytesPerOp,
        Self::Control,
    ];

    /// The name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OffStd => "off/std",
            Self::RecordOff => "record/off",
            Self::DiscardOff => "discard/off",
            Self::ReplayRecord => "replay/record",
            Self::BytesPerOp => "bytes/op",
            Self::Control => "control",
        }
    }

    /// The unit in the results.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::BytesPerOp => "bytes",
            _ => "ratio",
        }
    }

    /// The values that the samples have for this metric; none if a variant it needs never ran.
    pub(super) fn values(self, samples: &Samples) -> Vec<f64> {
        match self {
            Self::BytesPerOp => samples.bytes_per_op.clone(),
            _ => {
                let rounds = samples.rounds.iter();
                rounds.filter_map(|round| self.ratio(round)).collect()
            }
        }
    }

    fn ratio(self, sample: &Sample) -> Option<f64> {
        let time = |variant| sample.get(&variant).map(|&ns| ns as f64);
        // Both runs with Reenact off are equally good, and their mean is better than either.
        let off = || Some((time(Variant::Off)? + time(Variant::OffAgain)?) / 2.0);
        Some(match self {
            Self::OffStd => off()? / time(Variant::Std)?,
            Self::RecordOff => time(Variant::Record)? / off()?,
            Self::DiscardOff => time(Variant::Discard)? / off()?,
            Self::ReplayRecord => time(Variant::Replay)? / time(Variant::Record)?,
            Self::Control => time(Variant::OffAgain)? / time(Variant::Off)?,
            Self::BytesPerOp => return None,
        })
    }
}
