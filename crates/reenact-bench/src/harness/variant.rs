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
}

impl Variant {
    /// The variants of round `round`, in order.
    ///
    /// Everything takes its turn at being first, except that a replay follows its recording.
    pub fn order(round: usize) -> Vec<Self> {
        let mut order = vec![
            Self::Std,
            Self::Off,
            Self::Record,
            Self::OffAgain,
            Self::Discard,
        ];
        let first = round % order.len();
        order.rotate_left(first);
        let record = order.iter().position(|&v| v == Self::Record);
        order.insert(record.map_or(0, |at| at + 1), Self::Replay);
        order
    }

    /// Which implementation the runner is asked for.
    pub fn implementation(self) -> &'static str {
        match self {
            Self::Std => "std",
            _ => "reenact",
        }
    }

    /// The value of `REENACT`, where it is set.
    pub fn mode(self) -> Option<&'static str> {
        match self {
            Self::Std | Self::Off | Self::OffAgain => None,
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
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Variant;

    #[test]
    fn a_replay_follows_its_recording_in_every_round() {
        for round in 0..10 {
            let order = Variant::order(round);
            let mut sorted = order.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), 6, "{order:?}");
            let record = order.iter().position(|&v| v == Variant::Record).unwrap();
            assert_eq!(order[record + 1], Variant::Replay);
        }
    }
}
