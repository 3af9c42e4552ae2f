//! The language of generated programs of actors: a line for what there is, and one for each actor and each thread.
//!
//! ```text
//! mutexes 2 atomics 1 fuel 3 close true
//! actor stop -: send:1,0 lock:0 / ask:1,1 add:0
//! actor keep 2: panic:0 / after:1,0
//! thread: send:0,0 askwait:1,1
//! ```
//!
//! An actor has scripts, of which a message names one, and a mailbox with so much room. Numbers too large wrap around,
//! so that whatever can be read can be run.

use std::{fmt, str::FromStr};

use reenact_testing::{
    language::{self, Fields, words},
    verbs,
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) mutexes: usize,
    pub(crate) atomics: usize,
    /// How many messages may be caused by one another.
    pub(crate) fuel: usize,
    /// Whether the system is shut down in the end.
    pub(crate) close: bool,
    pub(crate) actors: Vec<Actor>,
    pub(crate) threads: Vec<Script>,
}

/// An actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    /// Whether it goes on after a panic.
    pub(crate) keeps: bool,
    pub(crate) mailbox: Option<u32>,
    pub(crate) scripts: Vec<Script>,
}

pub(crate) type Script = Vec<Operation>;

/// Something that a turn or a thread does. The first number is an actor, lock or atomic, the second a script.
pub(crate) type Operation = language::Operation<Verb>;

verbs! {
    Send "send",
    TrySend "trysend",
    /// Sends something large.
    Big "big",
    /// Asks, and notes the answer `when` it comes; a thread does not wait for it.
    Ask "ask",
    /// Asks, with a stand-in for the answer.
    AskBroken "askbroken",
    /// Asks, for whatever comes of it; a thread waits for it.
    AskSettled "asksettled",
    /// Asks, with one continuation after the other; a thread waits for it, but not for long.
    AskChain "askchain",
    /// Asks for a promise of an answer.
    Flatten "flatten",
    /// Makes an actor, and sends to it.
    Spawn "spawn",
    /// Sends to a promise that somebody else resolves, before and after giving that one the resolver.
    Pipe "pipe",
    /// Asks through a promise.
    PipeAsk "pipeask",
    /// A promise that somebody may break instead of resolving it.
    PipeBroken "pipebroken",
    /// Gives several the resolver of one promise.
    Race "race",
    /// Resolves a promise with the answer of somebody.
    Chain "chain",
    /// Two promises that are resolved with each other, each by another.
    Circle "circle",
    /// A promise of which several wait for the value.
    Share "share",
    /// A resolver is dropped.
    Abandon "abandon",
    After "after",
    Lock "lock",
    TryLock "trylock",
    Add "add",
    Load "load",
    Stop "stop",
    Panic "panic",
    Yield "yield",
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mutexes {} atomics {} fuel {} close {}",
            self.mutexes, self.atomics, self.fuel, self.close
        )?;
        for actor in &self.actors {
            let policy = if actor.keeps { "keep" } else { "stop" };
            let room = language::limit_to_text(actor.mailbox);
            let scripts: Vec<_> = actor.scripts.iter().map(|script| words(script)).collect();
            write!(f, "\nactor {policy} {room}: {}", scripts.join(" / "))?;
        }
        for thread in &self.threads {
            write!(f, "\nthread: {}", words(thread))?;
        }
        Ok(())
    }
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let mut lines = text.lines();
        let head = Fields::of(lines.next().unwrap_or_default());
        let mut program = Program {
            mutexes: head.number("mutexes")?,
            atomics: head.number("atomics")?,
            fuel: head.number("fuel")?,
            close: head.text("close")? == "true",
            actors: Vec::new(),
            threads: Vec::new(),
        };
        for line in lines {
            let (head, scripts) = line.split_once(':').ok_or("no colon")?;
            let scripts = scripts.split('/').map(language::script);
            match head.split(' ').collect::<Vec<_>>()[..] {
                ["actor", policy, room] => program.actors.push(Actor {
                    keeps: policy == "keep",
                    mailbox: language::limit(room)?.map(|room| room as u32),
                    scripts: scripts.collect::<Result<_, _>>()?,
                }),
                ["thread"] => program
                    .threads
                    .extend(scripts.collect::<Result<Vec<_>, _>>()?),
                _ => return Err(format!("neither an actor nor a thread: {head}")),
            }
        }
        Ok(program)
    }
}
