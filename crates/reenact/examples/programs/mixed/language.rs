//! The language of mixtures: a line for what there is, and one for each actor, script, thread and process.
//!
//! ```text
//! mutexes 2 atomics 1 variables 3 fuel 2 rounds 3 channels d0,f1,d-
//! actor stop -
//! actor keep 2
//! script: send:0,3 lock:1,0
//! thread: ask:0,0 txmove:1,2 process:0,0
//! process: recv:1,0 tick:0,0 post:1,0
//! ```
//!
//! An actor goes on after a panic or does not, and has a mailbox with so much room. Threads and processes do what they do
//! for so many rounds. A script is what a message, or a thread or process that is started later, does. A channel is drained by a process of its own (`d`), so that whoever
//! sends gets rid of it, or fed by one (`f`), so that whoever receives gets something; and has so much room. Numbers too
//! large wrap around, so that whatever can be read can be run.

use std::{fmt, str::FromStr};

use reenact_testing::{
    language::{self, Fields, limit, limit_to_text},
    verbs,
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) mutexes: usize,
    pub(crate) atomics: usize,
    pub(crate) variables: usize,
    /// How many messages, threads and processes may be caused by one another.
    pub(crate) fuel: usize,
    /// How often threads and processes do what they do, that are there from the beginning.
    pub(crate) rounds: usize,
    pub(crate) channels: Vec<Channel>,
    pub(crate) actors: Vec<Actor>,
    pub(crate) scripts: Vec<Script>,
    /// Threads and processes that are there from the beginning.
    pub(crate) roots: Vec<Root>,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Channel {
    /// As opposed to drained.
    pub(crate) is_fed: bool,
    /// None for one without bound.
    pub(crate) room: Option<usize>,
}

/// An actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    /// Whether it goes on after a panic.
    pub(crate) keeps: bool,
    pub(crate) mailbox: Option<u32>,
}

/// A thread or a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) is_process: bool,
    pub(crate) script: Script,
}

pub(crate) type Script = Vec<Operation>;

/// Something that somebody does: to what, and with which script, or which other object, or for how many times ten
/// microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) verb: Verb,
    pub(crate) first: usize,
    pub(crate) second: usize,
}

impl Operation {
    pub(crate) fn parts(self) -> (Verb, usize, usize) {
        (self.verb, self.first, self.second)
    }
}

verbs! {
    /// Locks two mutexes, the lower one first.
    Lock "lock",
    TryLock "trylock",
    /// A transaction, an atomic and a message, with the lock.
    Held "held",
    Wait "wait",
    Notify "notify",
    Read "read",
    Write "write",
    Add "add",
    Load "load",
    /// Compares and exchanges, with what was there a moment ago.
    Exchange "exchange",
    /// Sends a message to an actor.
    Post "post",
    /// The same, and notes whether there was room.
    TryPost "trypost",
    /// Sends a message that is answered, and waits for that, or goes on when it is.
    Ask "ask",
    /// The same, but waits not for long at first.
    AskLate "asklate",
    /// Sends to a promise that somebody else resolves.
    Pipe "pipe",
    /// Gives several the resolver of one promise.
    Race "race",
    /// Resolves a promise with the answer of somebody.
    Chain "chain",
    /// Sends a number to a channel.
    Send "send",
    TrySend "trysend",
    SendSoon "sendsoon",
    Recv "recv",
    TryRecv "tryrecv",
    RecvSoon "recvsoon",
    /// Receives from one of two.
    Select "select",
    /// Sends to one or receives from another.
    SelectSend "selectsend",
    /// Either of these if that is possible at once.
    SelectNow "selectnow",
    /// Sends the resolver of a promise to a channel: whoever receives it resolves it.
    Favour "favour",
    /// Sends an actor to a channel: whoever receives it sends it a message.
    Introduce "introduce",
    TxRead "txread",
    TxWrite "txwrite",
    TxMove "txmove",
    TxAbort "txabort",
    TxPanic "txpanic",
    TxElse "txelse",
    /// Sends a message when the transaction has committed.
    TxPost "txpost",
    /// A thread or process says how far it is, in a transaction.
    Tick "tick",
    /// Waits, in a transaction, until one that comes before it is as far as that.
    Await "await",
    Thread "thread",
    Process "process",
    Actor "actor",
    /// Starts a thread or a process that does a little and waits for it at once, in a turn too.
    SpawnJoin "spawnjoin",
    /// The same with two threads of a scope, which wait for each other.
    Scope "scope",
    Join "join",
    Finished "finished",
    Stop "stop",
    Panic "panic",
    Yield "yield",
    Sleep "sleep",
    /// Goes on after some time, if it is an actor.
    After "after",
    /// Sees to it that something is there, which is made once.
    Init "init",
    /// Starts a thread that is not one of Reenact's, and waits for it; if it is a thread itself.
    Foreign "foreign",
    /// Ends the program.
    Exit "exit",
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channels: Vec<_> = self.channels.iter().map(Channel::to_string).collect();
        write!(
            f,
            "mutexes {} atomics {} variables {} fuel {} rounds {} channels {}",
            self.mutexes,
            self.atomics,
            self.variables,
            self.fuel,
            self.rounds,
            channels.join(",")
        )?;
        for actor in &self.actors {
            let policy = if actor.keeps { "keep" } else { "stop" };
            write!(f, "\nactor {policy} {}", limit_to_text(actor.mailbox))?;
        }
        for script in &self.scripts {
            write!(f, "\nscript:{}", written(script))?;
        }
        for root in &self.roots {
            let kind = if root.is_process { "process" } else { "thread" };
            write!(f, "\n{kind}:{}", written(&root.script))?;
        }
        Ok(())
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_fed { 'f' } else { 'd' };
        write!(f, "{kind}{}", limit_to_text(self.room))
    }
}

fn written(script: &Script) -> String {
    let words = script.iter().map(|operation| {
        let (verb, first, second) = operation.parts();
        format!(" {verb}:{first},{second}")
    });
    words.collect()
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Program, String> {
        let mut lines = text.lines();
        let head = Fields::of(lines.next().unwrap_or_default());
        let mut program = Program {
            mutexes: head.number("mutexes")?,
            atomics: head.number("atomics")?,
            variables: head.number("variables")?,
            fuel: head.number("fuel")?,
            rounds: head.number("rounds")?,
            channels: head
                .text("channels")?
                .split(',')
                .map(channel)
                .collect::<Result<_, _>>()?,
            actors: Vec::new(),
            scripts: Vec::new(),
            roots: Vec::new(),
        };
        for line in lines {
            let (head, operations) = line.split_once(':').unwrap_or((line, ""));
            let script = operations.split_whitespace().map(operation);
            let script = script.collect::<Result<_, _>>()?;
            match head.split(' ').collect::<Vec<_>>()[..] {
                ["actor", policy, room] => program.actors.push(Actor {
                    keeps: policy == "keep",
                    mailbox: limit(room)?.map(|room| room as u32),
                }),
                ["script"] => program.scripts.push(script),
                [kind @ ("thread" | "process")] => program.roots.push(Root {
                    is_process: kind == "process",
                    script,
                }),
                _ => return Err(format!("nothing that there is: {head}")),
            }
        }
        Ok(program)
    }
}

fn channel(text: &str) -> Result<Channel, String> {
    let (kind, room) = text.split_at_checked(1).ok_or("no channel")?;
    Ok(Channel {
        is_fed: kind == "f",
        room: limit(room)?,
    })
}

fn operation(text: &str) -> Result<Operation, String> {
    let language::Operation { verb, numbers } = text.parse()?;
    let [first, second] = numbers[..] else {
        return Err(format!("not two numbers: {text}"));
    };
    Ok(Operation {
        verb,
        first,
        second,
    })
}
