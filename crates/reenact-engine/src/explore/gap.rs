//! What an exploration does not cover, and what it has learned about a program besides that.

use std::fmt;

use reenact_explore::Limit;
use serde::{Deserialize, Serialize};

use crate::unrecorded::{Uncaptured, started_threads};

/// Why an exploration does not say what all executions of a program do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Gap {
    /// The strategy does not run every class of executions; the value says which ones it runs.
    Strategy(String),
    /// A limit was reached.
    Limit(Limit),
    /// This activity has started a thread without Reenact, whose order with others is not explored.
    Thread(String),
    /// More than one activity has read standard input, and in which order is not explored.
    Input,
    /// Activities that repeated something without effect were held back, so that longer repetitions were not explored.
    Repetition,
    /// An activity did not come to its next operation before the time was up.
    Stuck(StuckActivity),
    /// An execution ended early, because this cannot be explored.
    Unsupported(String),
}

impl Gap {
    /// Returns whether an execution could not be continued because of it.
    pub fn is_obstacle(&self) -> bool {
        matches!(self, Gap::Stuck(_) | Gap::Unsupported(_))
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Strategy(which) => write!(f, "not every class of executions was run: {which}"),
            Gap::Limit(limit) => write!(f, "the exploration stopped {limit}"),
            Gap::Thread(who) => write!(
                f,
                "{}: what that thread does is not explored",
                started_threads(who, 1, true)
            ),
            Gap::Input => write!(
                f,
                "several activities read standard input: their order there is not explored"
            ),
            Gap::Repetition => write!(
                f,
                "loops that wait for something were explored with few repetitions without effect"
            ),
            Gap::Stuck(stuck) => write!(f, "{stuck}"),
            Gap::Unsupported(what) => write!(f, "exploration does not support this: {what}"),
        }
    }
}

/// An activity that did not come to its next operation before the time was up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckActivity {
    /// Its place in the family tree, such as `main.2.0`.
    pub who: String,
    /// Whether it waits in the kernel. Otherwise it runs.
    pub is_waiting: bool,
    /// The line of the program at which it is, if it could be found.
    pub site: Option<String>,
    /// Its last operation.
    pub after: Option<String>,
}

impl fmt::Display for StuckActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StuckActivity {
            who,
            is_waiting,
            site,
            after,
        } = self;
        let what = match is_waiting {
            true => "waits in the kernel",
            false => "still runs",
        };
        write!(f, "{who} {what}")?;
        if let Some(site) = site {
            write!(f, " at {site}")?;
        }
        if let Some(after) = after {
            write!(f, ", after `{after}`")?;
        }
        write!(
            f,
            ": it did not come to its next operation before the time was up"
        )
    }
}

/// What a program has read that does not depend on the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reads(u8);

impl Reads {
    pub(crate) const CLOCK: Reads = Reads(1);
    pub(crate) const TIME_OF_DAY: Reads = Reads(1 << 1);
    pub(crate) const RANDOM: Reads = Reads(1 << 2);
    pub(crate) const INPUT: Reads = Reads(1 << 3);
    const PROCESSOR_TIME: Reads = Reads(1 << 4);
    const RANDOM_DEVICE: Reads = Reads(1 << 5);

    /// Their names, and whether they are the same in every execution.
    const NAMES: [(Reads, &'static str, bool); 6] = [
        (Reads::CLOCK, "the clock", true),
        (Reads::TIME_OF_DAY, "the time of day", true),
        (Reads::RANDOM, "random numbers", true),
        (Reads::INPUT, "standard input", true),
        (
            Reads::PROCESSOR_TIME,
            Uncaptured::ProcessorTime.name(),
            false,
        ),
        (Reads::RANDOM_DEVICE, Uncaptured::RandomDevice.name(), false),
    ];

    /// Returns the read of something that is not captured.
    pub(crate) fn of(what: Uncaptured) -> Reads {
        match what {
            Uncaptured::ProcessorTime => Reads::PROCESSOR_TIME,
            Uncaptured::RandomDevice => Reads::RANDOM_DEVICE,
        }
    }

    pub(crate) fn has(self, all: Reads) -> bool {
        self.0 & all.0 == all.0
    }

    pub(crate) fn or(self, other: Reads) -> Reads {
        Reads(self.0 | other.0)
    }

    /// Writes the sentence about what was read on a line of its own, if there is one.
    pub(crate) fn write_line(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_nothing() {
            true => Ok(()),
            false => write!(f, "\n  {self}"),
        }
    }

    fn is_nothing(self) -> bool {
        self == Reads::default()
    }
}

/// A sentence about what was read; empty if that is nothing.
impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nothing() {
            return Ok(());
        }
        let read = Reads::NAMES.iter().filter(|(what, ..)| self.has(*what));
        let read = read.map(|(_, name, is_same)| match is_same {
            true => format!("{name} (the same in every execution)"),
            false => format!("{name} (different in every execution)"),
        });
        write!(
            f,
            "the program has read {}",
            read.collect::<Vec<_>>().join("; ")
        )
    }
}

/// What the executions of a search have shown besides their outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub(crate) gaps: Vec<Gap>,
    pub(crate) reads: Reads,
}

impl Notes {
    /// Adds a gap, once.
    pub(crate) fn add(&mut self, gap: Gap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Adds what others have noted.
    pub(crate) fn add_all(&mut self, others: Notes) {
        others.gaps.into_iter().for_each(|gap| self.add(gap));
        self.reads = self.reads.or(others.reads);
    }
}
