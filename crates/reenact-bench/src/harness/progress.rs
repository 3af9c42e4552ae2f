//! A line on standard error that says what is running, if that is a terminal.

use std::io::{self, IsTerminal, Write};

/// The progress line.
pub(super) struct Progress {
    terminal: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
        }
    }

    /// Replaces the line.
    pub(super) fn show(&mut self, text: &str) {
        if self.terminal {
            // Losing a progress line is no reason to stop.
            let _ = write!(io::stderr(), "\r\x1b[K{text}");
        }
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        self.show("");
    }
}
