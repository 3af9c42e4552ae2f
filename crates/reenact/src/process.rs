//! `std::process`, recorded: other programs, started from this one.
//!
//! Names and signatures are those of the standard library. A replay starts no program: what a program printed into a
//! pipe, and how it ended, comes from the trace. What it printed elsewhere, as with [`Stdio::inherit`], is not
//! recorded, and a replay does not print it.
//!
//! ```
//! use reenact::process::Command;
//!
//! # fn main() -> std::io::Result<()> {
//! let output = Command::new("echo").arg("good morning").output()?;
//! assert_eq!(output.stdout, b"good morning\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Nondeterminism
//!
//! - *What can go more than one way*: whether a program can be started, its process id, what it prints and when, how it
//!   ends.
//! - *What is recorded*: every answer. Bytes that were read from it are stored; of bytes that are written to it, and of
//!   the command itself, their length and a hash.
//! - *What replay waits for*: only the activity's own order.
//! - *What exploration branches on*: nothing; the answers are those of the recording or of the system.
//! - *What is dependent*: nothing that the program can observe other than through the answers.

mod child;
mod command;
mod pipe;

pub use std::process::{ExitCode, ExitStatus, Output, Termination, abort, exit};

pub use self::{
    child::Child,
    command::{Command, Stdio},
    pipe::{ChildStderr, ChildStdin, ChildStdout},
};
use crate::outside::{SystemCall, ops};

/// Returns the id of this process; in a replay, that of the recorded one.
#[must_use]
#[track_caller]
pub fn id() -> u32 {
    let id = SystemCall::new(ops::PROCESS_ID, &"the number of the process")
        .number(|| Ok(std::process::id().into()));
    id.map_or(0, |id| id as u32)
}
