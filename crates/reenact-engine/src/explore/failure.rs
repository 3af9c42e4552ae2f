//! What can go wrong in an execution.

use std::fmt;

use reenact_explore::Divergence;
use serde::{Deserialize, Serialize};

use super::gap::Reads;
use crate::pool::stack::Stack;

/// What went wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// An activity panicked, and the panic was not observed.
    Panic(String, Panic),
    /// No activity can continue.
    Deadlock(Vec<BlockedActivity>),
    /// The main activity has ended, and these wait forever.
    BlockedAtEnd(Vec<BlockedActivity>),
    /// All activities that could continue, which are named, repeated their operations without any effect, although each
    /// had its turn.
    Livelock(Vec<String>),
    /// The execution did not end within this number of steps.
    NoEnd(usize),
    /// The program does not behave the same under the same schedule; the values say what was different the second time,
    /// and what the program has read from outside.
    Divergence(Divergence, Reads),
    /// An execution failed, but does not always fail under the same schedule.
    Unreliable {
        /// How many of the repeated executions failed in the same way.
        failed: u32,
        /// How often the execution was repeated.
        repeated: u32,
        /// What the program has read from outside.
        reads: Reads,
    },
    /// The program ended abnormally; the value says how.
    Ended(String),
    /// An activity overflowed its stack.
    Overflow(String),
}

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panic {
    /// The panic message.
    pub message: String,
    /// Where the panic happened.
    pub place: Option<String>,
}

impl Panic {
    /// Returns whether its message says only that somebody else has panicked.
    pub(super) fn is_passed_on(&self) -> bool {
        // What `unwrap` and `expect` print of the result of a join, and of a poisoned lock.
        [
            "Any { .. }",
            "PoisonError { .. }",
            "a scoped thread panicked",
        ]
        .iter()
        .any(|end| self.message.ends_with(end))
    }
}

/// A blocked activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedActivity {
    /// Its place in the family tree, such as `main.2.0`.
    pub who: String,
    /// The operation that is blocked, or what the activity waits for.
    pub what: String,
    /// Where it waits.
    pub site: Option<String>,
    /// The activity that holds the lock, and where it acquired it.
    pub holder: Option<(String, String)>,
}

impl BlockedActivity {
    /// Returns whether it waits for a lock that it holds itself.
    pub fn is_for_itself(&self) -> bool {
        self.holder
            .as_ref()
            .is_some_and(|(who, _)| *who == self.who)
    }
}

fn since(at: &str) -> String {
    match at {
        "" => String::new(),
        at => format!(" since {at}"),
    }
}

impl fmt::Display for BlockedActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits: {}", self.who, self.what)?;
        if let Some(site) = &self.site {
            write!(f, " at {site}")?;
        }
        match &self.holder {
            Some((_, at)) if self.is_for_itself() => {
                write!(f, ", which it has itself{}: it locks twice", since(at))
            }
            Some((who, at)) => write!(f, ", which {who} has{}", since(at)),
            None => Ok(()),
        }
    }
}

impl Failure {
    pub(super) fn is_livelock(&self) -> bool {
        matches!(self, Failure::Livelock(_))
    }

    /// Returns the blocked activities of a deadlock.
    pub(super) fn waiting_mut(&mut self) -> &mut [BlockedActivity] {
        match self {
            Failure::Deadlock(waiting) | Failure::BlockedAtEnd(waiting) => waiting,
            _ => &mut [],
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Panic(who, panic) => {
                write!(f, "{who} panicked")?;
                if let Some(place) = &panic.place {
                    write!(f, " at {place}")?;
                }
                write!(f, ": {}", panic.message)
            }
            Failure::Deadlock(waiting) | Failure::BlockedAtEnd(waiting) => {
                write!(
                    f,
                    "{}",
                    match self {
                        Failure::Deadlock(_) => "deadlock",
                        _ => "deadlock: main has ended, and others wait forever",
                    }
                )?;
                for waiting in waiting {
                    write!(f, "\n  {waiting}")?;
                }
                Ok(())
            }
            Failure::Livelock(who) => {
                write!(
                    f,
                    "livelock: only {} can continue, and repeats without end what has no effect",
                    who.join(" and ")
                )
            }
            Failure::NoEnd(steps) => {
                write!(
                    f,
                    "no end in {steps} steps, although every activity had its turn"
                )
            }
            Failure::Divergence(divergence, reads) => {
                write!(
                    f,
                    "the program does not do the same twice with the same schedule (a static, a thread-local, an \
                     address, or something from outside makes a difference): {divergence}"
                )?;
                reads.write_line(f)
            }
            Failure::Unreliable {
                failed,
                repeated,
                reads,
            } => {
                write!(
                    f,
                    "the failure does not depend on the schedule alone: the same schedule failed in {failed} of \
                     {repeated} executions (a static, a thread-local, an address, or something from outside makes a \
                     difference)"
                )?;
                reads.write_line(f)
            }
            Failure::Ended(how) => write!(f, "the program {how}"),
            Failure::Overflow(who) => write!(
                f,
                "{who} has used up its stack of {} KiB: it recurses too deep to be explored here; a program of its own has \
                 larger ones (reenact explore -- COMMAND)",
                Stack::USABLE >> 10
            ),
        }
    }
}
