//! Errors of a session, with the alternatives that exist.

use crate::{CommandError, SyntaxError};

/// Why a command cannot be performed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The text has a syntax error.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The step does not apply anywhere.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// There is no such step.
    #[error("there is no step {name}; there are {}", .steps.join(", "))]
    NoStep {
        /// The requested name.
        name: String,
        /// The names that exist.
        steps: Vec<&'static str>,
    },
    /// The step depends on calls, which are not tracked.
    #[error(
        "{0} needs calls, which are not tracked in this program, only operations. To go to the next operation, type: into; \
         to stop at a line, type: break line LINE"
    )]
    NoCalls(&'static str),
    /// The language has no such operations.
    #[error("no program in this language can stop at {name}{}", or_at(.kinds))]
    NoKind {
        /// The requested kind.
        name: &'static str,
        /// The kinds that exist.
        kinds: Vec<&'static str>,
    },
    /// The line has nothing to stop at.
    #[error("no operation can stop at line {0}")]
    NoLine(u32),
    /// There is no such breakpoint.
    #[error("there is no breakpoint {0}")]
    NoBreakpoint(u32),
    /// There is no such universe.
    #[error("there is no universe {universe}, only 0 to {last}")]
    NoUniverse {
        /// The requested number.
        universe: usize,
        /// The highest number that exists.
        last: usize,
    },
    /// There is no such activity.
    #[error("there is no {name} in any of these universes; there are {}", .activities.join(", "))]
    NoActivity {
        /// The requested name.
        name: String,
        /// The names in the selected universe.
        activities: Vec<String>,
    },
    /// No universe is paused.
    #[error("no universe is paused")]
    NothingPaused,
    /// There is no command to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
}

fn or_at(kinds: &[&str]) -> String {
    match kinds {
        [] => ", or at anything else".to_owned(),
        kinds => format!("; there are {}", kinds.join(", ")),
    }
}
