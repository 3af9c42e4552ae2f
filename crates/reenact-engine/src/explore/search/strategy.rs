//! Exploration strategies and their names.

use std::{fmt, str::FromStr};

use reenact_explore::RandomStrategy;

use crate::explore::schedule::Schedule;

/// How executions are chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Strategy {
    /// Some random executions first, because they find most failures; then exhaustive within the budget.
    Portfolio,
    /// One execution of each class: complete.
    Exhaustive,
    /// Random executions.
    Random(RandomStrategy),
    /// All executions with at most this number of preemptions: switches away from an activity that could continue.
    Preemptions(u32),
    /// All executions with at most this number of delays: deviations from a round-robin schedule.
    Delays(u32),
    /// The execution of this schedule.
    Schedule(Schedule),
}

/// A text is not the name of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseStrategyError(String);

impl fmt::Display for ParseStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a strategy: there are portfolio, exhaustive, mixed, urw, walk, pct N, pctcp N, pos, \
             preemptions N and delays N",
            self.0
        )
    }
}

impl std::error::Error for ParseStrategyError {}

impl FromStr for Strategy {
    type Err = ParseStrategyError;

    fn from_str(text: &str) -> Result<Strategy, ParseStrategyError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let number: Option<Result<u32, _>> = words.next().map(str::parse);
        let strategy = match (name, number, words.next()) {
            ("portfolio", None, None) => Strategy::Portfolio,
            ("exhaustive", None, None) => Strategy::Exhaustive,
            ("mixed", None, None) => Strategy::Random(RandomStrategy::Mixed),
            ("walk", None, None) => Strategy::Random(RandomStrategy::Walk),
            ("urw", None, None) => Strategy::Random(RandomStrategy::Urw),
            ("pos", None, None) => Strategy::Random(RandomStrategy::Pos),
            ("pct", Some(Ok(depth)), None) => Strategy::Random(RandomStrategy::Pct { depth }),
            ("pctcp", Some(Ok(depth)), None) => Strategy::Random(RandomStrategy::Pctcp { depth }),
            ("preemptions", Some(Ok(most)), None) => Strategy::Preemptions(most),
            ("delays", Some(Ok(most)), None) => Strategy::Delays(most),
            _ => return Err(ParseStrategyError(text.to_owned())),
        };
        Ok(strategy)
    }
}

pub(super) fn name_of(strategy: RandomStrategy) -> String {
    match strategy {
        RandomStrategy::Mixed => "mixed".to_owned(),
        RandomStrategy::Walk => "walk".to_owned(),
        RandomStrategy::Urw => "urw".to_owned(),
        RandomStrategy::Pct { depth } => format!("pct {depth}"),
        RandomStrategy::Pctcp { depth } => format!("pctcp {depth}"),
        RandomStrategy::Pos => "pos".to_owned(),
    }
}
