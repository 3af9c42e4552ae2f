//! What can go wrong in an execution.

use std::fmt;

use super::follow::Misfit;
use crate::pool::stack::Stack;

/// What went wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// An activity panicked, and nobody was told.
    Panic(String, Panic),
    /// Nobody can go on.
    Deadlock(Vec<Waiting>),
    /// There was no end in so many steps.
    Livelock(usize),
    /// The program does not do the same twice: what was different the second time.
    Divergence(Misfit),
    /// The program ended as it does when something is wrong: how.
    Ended(String),
    /// An activity has used up its stack.
    Overflow(String),
    /// There is no stack for an activity.
    NoStack(String, String),
    /// There is no process for an execution.
    NoProcess(String),
}

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What it says.
    pub message: String,
    /// Where it is.
    pub place: Option<String>,
}

/// One who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its place in the family tree, as in `main.2.0`.
    pub who: String,
    /// What it waits to do, or for.
    pub what: String,
    /// Where.
    pub site: Option<String>,
    /// Who has what it waits for, and took it where.
    pub holder: Option<(String, String)>,
}

impl Waiting {
    /// Whether it waits for itself.
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

impl fmt::Display for Waiting {
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
    /// Those who wait in a deadlock.
    pub(super) fn waiting_mut(&mut self) -> &mut [Waiting] {
        match self {
            Failure::Deadlock(waiting) => waiting,
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
            Failure::Deadlock(waiting) => {
                write!(f, "deadlock")?;
                for waiting in waiting {
                    write!(f, "\n  {waiting}")?;
                }
                Ok(())
            }
            Failure::Livelock(steps) => {
                write!(
                    f,
                    "no end in {steps} steps, although everybody had its turn"
                )
            }
            Failure::Divergence(misfit) => write!(
                f,
                "the program does not do the same twice with the same schedule (a static, a thread-local, an address, or \
                 something from outside makes a difference): {misfit}"
            ),
            Failure::Ended(how) => write!(f, "the program {how}"),
            Failure::NoProcess(error) => write!(f, "there is no process for an execution: {error}"),
            Failure::Overflow(who) => write!(
                f,
                "{who} has used up its stack of {} KiB: it recurses too deep to be explored here; a program of its own has \
                 larger ones (reenact explore -- COMMAND)",
                Stack::USABLE >> 10
            ),
            Failure::NoStack(who, error) => write!(f, "there is no stack for {who}: {error}"),
        }
    }
}
