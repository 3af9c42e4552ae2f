//! The reports of a session: serialisable for a web page, displayable for a terminal.

use std::fmt;

use serde::Serialize;

use crate::{BreakpointKind, Ending, Site, StepKind};

/// The status of all universes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The universes, grouped by status.
    pub groups: Vec<Group>,
    /// The number of states visited to get there.
    pub states: usize,
}

/// Universes with the same status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Their status.
    pub how: UniverseStatus,
    /// Their numbers.
    pub universes: Vec<usize>,
}

/// The status of a universe.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UniverseStatus {
    /// It waits for a command.
    Paused {
        /// The cause: the text of a breakpoint, the name of a step, or `pause`.
        by: String,
        /// The number of the breakpoint.
        breakpoint: Option<u32>,
        /// The stopped activities, and what each of them is about to do.
        stopped: Vec<StoppedActivity>,
    },
    /// The program has ended, with this outcome.
    Ended(Ending),
    /// The user has abandoned it.
    Stopped,
    /// The program has not ended: a limit of the session was reached.
    Running,
}

/// A stopped activity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct StoppedActivity {
    /// The name of the activity.
    pub who: String,
    /// Its possible next steps.
    pub next: Vec<String>,
}

/// An event on the path to a universe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathEvent {
    /// The activity. `None` for a user command.
    pub who: Option<String>,
    /// A description of the event.
    pub what: String,
    /// The source location.
    pub site: Option<Site>,
}

/// The commands that are possible for one activity in a universe.
#[derive(Clone, Debug, Serialize)]
pub struct Choices {
    /// The number of the activity.
    pub activity: crate::Activity,
    /// The name of the activity.
    pub who: String,
    /// Whether it is stopped.
    pub is_paused: bool,
    /// Its possible next steps.
    pub next: Vec<String>,
    /// The breakpoints that apply to its pending operations.
    pub breakpoints: Vec<&'static BreakpointKind>,
    /// The steps it can take.
    pub steps: Vec<&'static StepKind>,
}

/// The states in which a condition holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundStates {
    /// The number of such states.
    pub states: usize,
    /// The number of states that were examined.
    pub of: usize,
    /// Whether all reachable states were examined.
    pub is_complete: bool,
    /// The nearest such state.
    pub nearest: Option<Nearest>,
}

/// The nearest state in which a condition holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// The universe that it is reached from.
    pub universe: usize,
    /// The path to it.
    pub story: Vec<PathEvent>,
    /// The visible part of the state.
    pub observation: crate::Observation,
}

impl fmt::Display for Overview {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, group) in self.groups.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            match group.universes.as_slice() {
                [one] => write!(out, "universe {one} {}", group.how)?,
                many => write!(
                    out,
                    "{} universes ({}) {}",
                    many.len(),
                    Numbers(many),
                    group.how
                )?,
            }
        }
        Ok(())
    }
}

/// Displays numbers of universes with consecutive ones as ranges, abbreviated if there are many.
pub struct Numbers<'a>(pub &'a [usize]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RANGES: usize = 8;
        let ranges = self.0.chunk_by(|a, b| a + 1 == *b);
        for (at, range) in ranges.enumerate() {
            if at > 0 {
                out.write_str(", ")?;
            }
            if at == RANGES {
                return out.write_str("…");
            }
            match range {
                [first, .., last] => write!(out, "{first}–{last}")?,
                one => write!(out, "{}", one[0])?,
            }
        }
        Ok(())
    }
}

impl UniverseStatus {
    /// The part of the status that is the same for all universes with the same cause: without activities or outcomes.
    pub fn reason(&self) -> String {
        match self {
            UniverseStatus::Paused {
                by,
                breakpoint: Some(number),
                ..
            } => format!("paused at breakpoint {number} ({by})"),
            UniverseStatus::Paused { by, .. } if by == "pause" => "paused".to_owned(),
            UniverseStatus::Paused { by, .. } => format!("paused after {by}"),
            UniverseStatus::Ended(ending) if !ending.waits.is_empty() => {
                "ended in a deadlock".to_owned()
            }
            UniverseStatus::Ended(ending) if !ending.errors.is_empty() => {
                "ended with an error".to_owned()
            }
            UniverseStatus::Ended(_) => "ended".to_owned(),
            UniverseStatus::Stopped => "stopped".to_owned(),
            UniverseStatus::Running => "not at an end: a bound was reached before".to_owned(),
        }
    }
}

impl fmt::Display for UniverseStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UniverseStatus::Paused {
                by,
                breakpoint,
                stopped,
            } => {
                match breakpoint {
                    Some(number) => write!(out, "paused at breakpoint {number} ({by})")?,
                    None => write!(out, "paused by {by}")?,
                }
                for (at, stop) in stopped.iter().enumerate() {
                    let separator = if at == 0 { ": " } else { "; " };
                    write!(out, "{separator}{}", stop.who)?;
                    if !stop.next.is_empty() {
                        write!(out, " next {}", stop.next.join(" or "))?;
                    }
                }
                Ok(())
            }
            UniverseStatus::Ended(ending) => {
                out.write_str("ended")?;
                let lines = ending.lines();
                match lines.is_empty() {
                    true => Ok(()),
                    false => write!(out, ": {}", lines.join("; ")),
                }
            }
            UniverseStatus::Stopped => out.write_str("stopped"),
            UniverseStatus::Running => out.write_str("not at an end: the limit was reached"),
        }
    }
}

impl fmt::Display for PathEvent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Some(who) => write!(out, "{who} {}", self.what),
            None => write!(out, "— {}", self.what),
        }
    }
}
