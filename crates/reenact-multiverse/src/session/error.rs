//! What cannot be done in a session, and what can instead.

use crate::{CommandError, SyntaxError};

/// Why something that was asked for cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The text makes no sense.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The step does not apply anywhere.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// There is no such step.
    #[error("there is no step {name}; there are {}", .steps.join(", "))]
    NoStep {
        /// What was asked for.
        name: String,
        /// What there is.
        steps: Vec<&'static str>,
    },
    /// The step goes by calls, of which nothing is known.
    #[error(
        "{0} goes by calls, and calls are not known of this program: only its operations are; into goes to the next one"
    )]
    NoCalls(&'static str),
    /// The language has no such operations.
    #[error("no program in this language can stop at {name}{}", or_at(.kinds))]
    NoKind {
        /// What was asked for.
        name: &'static str,
        /// What there is.
        kinds: Vec<&'static str>,
    },
    /// The line has nothing to stop at.
    #[error("there is nothing to stop at in line {0}")]
    NoLine(u32),
    /// There is no such breakpoint.
    #[error("there is no breakpoint {0}")]
    NoBreakpoint(u32),
    /// There is no such universe.
    #[error("there is no universe {universe}, only 0 to {last}")]
    NoUniverse {
        /// What was asked for.
        universe: usize,
        /// The last of those that exist.
        last: usize,
    },
    /// There is no such activity.
    #[error("there is no {name} in any of these universes; there are {}", .activities.join(", "))]
    NoActivity {
        /// What was asked for.
        name: String,
        /// Those in the selected universe.
        activities: Vec<String>,
    },
    /// Nobody waits for a command.
    #[error("no universe is paused")]
    NothingPaused,
    /// Nothing was done so far.
    #[error("there is nothing to undo")]
    NothingToUndo,
}

fn or_at(kinds: &[&str]) -> String {
    match kinds {
        [] => ", or at anything else".to_owned(),
        kinds => format!("; there are {}", kinds.join(", ")),
    }
}
