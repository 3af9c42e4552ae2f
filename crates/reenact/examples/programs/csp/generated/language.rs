//! The language of generated programs of processes: a line for what there is, and one for each party.
//!
//! ```text
//! mutexes 2 channels 0 3+ 1
//! process: send:0 select:0,1,2,0 lock:1,0
//! thread: receive:0 close:1
//! turn: try-send:2 spawn:0
//! ```
//!
//! Channels have so much room; those with a plus close when their last user has gone, while at the others there is always
//! somebody to meet. Numbers too large wrap around, so that whatever can be read can be run.

use std::{fmt, str::FromStr};

use reenact_testing::{
    language::{self, number},
    verbs,
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) mutexes: usize,
    pub(crate) channels: Vec<Channel>,
    pub(crate) parties: Vec<Party>,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Channel {
    /// Past some number: any.
    pub(crate) room: usize,
    pub(crate) closes: bool,
}

/// Somebody who does something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Party {
    pub(crate) kind: Kind,
    pub(crate) script: Vec<Operation>,
}

/// What runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Process,
    Thread,
    /// An actor's only turn.
    Turn,
}

/// Something that somebody does. The first number is a channel or a lock, others are whatever is needed.
pub(crate) type Operation = language::Operation<Verb>;

verbs! {
    Send "send",
    Receive "receive",
    TrySend "try-send",
    TryReceive "try-receive",
    /// With a time limit in microseconds.
    SendSoon "send-soon",
    ReceiveSoon "receive-soon",
    /// Receives what is there.
    Drain "drain",
    /// Receives until nobody sends, or nobody has for a while.
    Iterate "iterate",
    /// Sends or receives at two channels, whichever is possible.
    Select "select",
    /// The same at four.
    SelectOfFour "select4",
    /// With a default.
    SelectNow "select-now",
    /// With a time limit.
    SelectSoon "select-soon",
    /// Gives up its sender, its receiver, or both.
    Close "close",
    /// Sends what it has received, by way of a channel of its own.
    Call "call",
    /// Starts a process that does what some party does, if there are not too many.
    Spawn "spawn",
    /// Joins the last process that it has started.
    Join "join",
    /// Asks whether that has ended.
    Finished "finished",
    Lock "lock",
    /// Sends or receives with a lock.
    LockedSend "locked-send",
    LockedReceive "locked-receive",
    TryLock "try-lock",
    Add "add",
    Yield "yield",
    Panic "panic",
}

impl Kind {
    pub(crate) const ALL: &[Kind] = &[Kind::Process, Kind::Thread, Kind::Turn];

    fn word(self) -> &'static str {
        match self {
            Kind::Process => "process",
            Kind::Thread => "thread",
            Kind::Turn => "turn",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mutexes {} channels", self.mutexes)?;
        for channel in &self.channels {
            write!(
                f,
                " {}{}",
                channel.room,
                if channel.closes { "+" } else { "" }
            )?;
        }
        for party in &self.parties {
            write!(f, "\n{}:", party.kind.word())?;
            for operation in &party.script {
                write!(f, " {operation}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let mut lines = text.lines();
        let head: Vec<_> = lines.next().unwrap_or_default().split(' ').collect();
        let ["mutexes", mutexes, "channels", ref channels @ ..] = head[..] else {
            return Err(format!("not a program: {head:?}"));
        };
        let channel = |text: &&str| {
            Ok(Channel {
                room: number(text.trim_end_matches('+'))?,
                closes: text.ends_with('+'),
            })
        };
        Ok(Program {
            mutexes: number(mutexes)?,
            channels: channels
                .iter()
                .map(channel)
                .collect::<Result<_, String>>()?,
            parties: lines.map(party).collect::<Result<_, _>>()?,
        })
    }
}

fn party(line: &str) -> Result<Party, String> {
    let (kind, script) = line.split_once(':').ok_or("no colon")?;
    let known = Kind::ALL.iter().find(|known| known.word() == kind);
    Ok(Party {
        kind: *known.ok_or_else(|| format!("no such party: {kind}"))?,
        script: language::script(script)?,
    })
}
