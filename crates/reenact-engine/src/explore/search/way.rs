//! Ways to explore, and what they are called.

use std::{fmt, str::FromStr};

use reenact_multiverse::explore::Strategy;

use crate::explore::schedule::Schedule;

/// Which executions are tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Way {
    /// Some at random first, since most failures are found by that; then all of them, as far as the budget goes.
    Portfolio,
    /// One of each class: all there is.
    Exhaustive,
    /// At random.
    Random(Strategy),
    /// All with at most so many switches away from who could go on.
    Preemptions(u32),
    /// All with at most so many deviations from taking turns.
    Delays(u32),
    /// This one.
    Schedule(Schedule),
}

/// Why a text names no way to explore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoWay(String);

impl fmt::Display for NoWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no way to explore: there are portfolio, exhaustive, mixed, urw, walk, pct N, pctcp N, pos, \
             preemptions N and delays N",
            self.0
        )
    }
}

impl std::error::Error for NoWay {}

impl FromStr for Way {
    type Err = NoWay;

    fn from_str(text: &str) -> Result<Way, NoWay> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let number: Option<Result<u32, _>> = words.next().map(str::parse);
        let way = match (name, number, words.next()) {
            ("portfolio", None, None) => Way::Portfolio,
            ("exhaustive", None, None) => Way::Exhaustive,
            ("mixed", None, None) => Way::Random(Strategy::Mixed),
            ("walk", None, None) => Way::Random(Strategy::Walk),
            ("urw", None, None) => Way::Random(Strategy::Urw),
            ("pos", None, None) => Way::Random(Strategy::Pos),
            ("pct", Some(Ok(depth)), None) => Way::Random(Strategy::Pct { depth }),
            ("pctcp", Some(Ok(depth)), None) => Way::Random(Strategy::Pctcp { depth }),
            ("preemptions", Some(Ok(most)), None) => Way::Preemptions(most),
            ("delays", Some(Ok(most)), None) => Way::Delays(most),
            _ => return Err(NoWay(text.to_owned())),
        };
        Ok(way)
    }
}

pub(super) fn name_of(strategy: Strategy) -> String {
    match strategy {
        Strategy::Mixed => "mixed".to_owned(),
        Strategy::Walk => "walk".to_owned(),
        Strategy::Urw => "urw".to_owned(),
        Strategy::Pct { depth } => format!("pct {depth}"),
        Strategy::Pctcp { depth } => format!("pctcp {depth}"),
        Strategy::Pos => "pos".to_owned(),
    }
}
