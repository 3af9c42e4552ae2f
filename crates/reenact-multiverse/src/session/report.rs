//! What a session says: values for a page, texts for a terminal.

use std::fmt;

use serde::Serialize;

use crate::{BreakpointKind, Ending, Site, StepKind};

/// How all universes stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standings {
    /// Those that stand alike, together.
    pub groups: Vec<Group>,
    /// How many states were passed to get there.
    pub states: usize,
}

/// Universes that stand alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// How they stand.
    pub how: How,
    /// Their numbers.
    pub universes: Vec<usize>,
}

/// How a universe stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It waits for a command.
    Paused {
        /// Why: the text of a breakpoint, the name of a step, or `pause`.
        by: String,
        /// The number of the breakpoint.
        breakpoint: Option<u32>,
        /// Who was stopped, and what each of them is about to do.
        stopped: Vec<Stop>,
    },
    /// Nothing is left to do, and this is what came of it.
    Ended(Ending),
    /// A person has left it alone.
    Stopped,
    /// It is not at an end: the limits of the session were reached.
    Running,
}

/// One that is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Stop {
    /// Its name.
    pub who: String,
    /// What it is about to do, in one way or another.
    pub next: Vec<String>,
}

/// One thing that happened on the way to a universe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Who did it; nobody if it was asked for by the person.
    pub who: Option<String>,
    /// What.
    pub what: String,
    /// Where the program says so.
    pub site: Option<Site>,
}

/// What can be done about one activity in a universe.
#[derive(Clone, Debug, Serialize)]
pub struct Choices {
    /// Its number.
    pub activity: crate::Activity,
    /// Its name.
    pub who: String,
    /// Whether it is stopped.
    pub is_paused: bool,
    /// What it is about to do.
    pub next: Vec<String>,
    /// The breakpoints that could be set there.
    pub breakpoints: Vec<&'static BreakpointKind>,
    /// The steps it can take.
    pub steps: Vec<&'static StepKind>,
}

/// The states in which a condition holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// How many.
    pub states: usize,
    /// Out of how many.
    pub of: usize,
    /// Whether these are all that can be reached.
    pub is_complete: bool,
    /// The nearest one: from which universe, how to get there, and what it looks like.
    pub nearest: Option<Nearest>,
}

/// The nearest state in which a condition holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// The universe that it is reached from.
    pub universe: usize,
    /// How.
    pub story: Vec<Event>,
    /// What can be seen there.
    pub observation: crate::Observation,
}

impl fmt::Display for Standings {
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

/// Numbers of universes, as people read them: those in a row are a range, and there are never too many of them.
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

impl How {
    /// What is the same for all universes that stand for the same reason: not who, nor with what.
    pub fn reason(&self) -> String {
        match self {
            How::Paused {
                by,
                breakpoint: Some(number),
                ..
            } => format!("paused at breakpoint {number} ({by})"),
            How::Paused { by, .. } if by == "pause" => "paused".to_owned(),
            How::Paused { by, .. } => format!("paused after {by}"),
            How::Ended(ending) if !ending.waits.is_empty() => "ended in a deadlock".to_owned(),
            How::Ended(ending) if !ending.errors.is_empty() => "ended with an error".to_owned(),
            How::Ended(_) => "ended".to_owned(),
            How::Stopped => "stopped".to_owned(),
            How::Running => "not at an end: a bound was reached before".to_owned(),
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::Paused {
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
            How::Ended(ending) => {
                out.write_str("ended")?;
                let lines = ending.lines();
                match lines.is_empty() {
                    true => Ok(()),
                    false => write!(out, ": {}", lines.join("; ")),
                }
            }
            How::Stopped => out.write_str("stopped"),
            How::Running => out.write_str("not at an end: the limit was reached"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Some(who) => write!(out, "{who} {}", self.what),
            None => write!(out, "— {}", self.what),
        }
    }
}
