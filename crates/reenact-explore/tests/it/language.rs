//! A small language of threads.
//!
//! A thread has one register, with what it read last. Local operations are part of the step before them.

mod dependence;
mod machine;
mod running;

pub(crate) use self::machine::Machine;

/// What is written or sent.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Just(i64),
    /// The register and so much more.
    Register(i64),
}

/// An operation of a thread. Those that may fail leave 1 in the register if they succeed, 0 if not, and -1 if what they
/// need is closed.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(usize),
    Store(usize, Value),
    FetchAdd(usize, i64),
    /// In one step: looks at the first variable. If it is 0, sets the second to 1, otherwise reads the second.
    Transact(usize, usize),
    Lock(usize),
    TryLock(usize),
    /// Nothing happens unless the thread has the mutex.
    Unlock(usize),
    /// Nothing happens if the thread looks already, or has it alone.
    Look(usize),
    Take(usize),
    /// Nothing happens unless the thread has it alone.
    Downgrade(usize),
    /// Nothing happens unless the thread looks, or has it alone.
    Leave(usize),
    Send(usize, Value),
    TrySend(usize, Value),
    Receive(usize),
    TryReceive(usize),
    Close(usize),
    /// Begins to wait, and in another step wakes.
    Wait(usize),
    NotifyOne(usize),
    NotifyAll(usize),
    Set(usize),
    Ask(usize),
    Await(usize),
    /// One of so many values.
    Pick(u32),
    Spawn(usize),
    Join(usize),
    /// Local: so many operations are left out if the register has this value.
    SkipIf(i64, usize),
    /// Local: the thread ends if the register has this value.
    EndIf(i64),
    /// Local: the thread fails if the register has this value.
    FailIf(i64),
}

/// What a step does, as far as others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Read(usize),
    Write(usize),
    /// Sets of variables, as bits. One that is pending may read and write all.
    Transaction {
        reads: u8,
        writes: u8,
    },
    Lock(usize),
    /// Only pending.
    TryLock(usize),
    FindLocked(usize),
    Unlock(usize),
    Look(usize),
    Take(usize),
    Downgrade(usize),
    /// By one who looks.
    Leave(usize),
    /// By one who has it alone.
    Release(usize),
    Send(usize),
    /// Only pending: into a queue that may be full, and be closed while it is.
    SendOrGiveUp(usize),
    /// Only pending.
    TrySend(usize),
    FindFull(usize),
    Receive(usize),
    /// Only pending.
    TryReceive(usize),
    FindEmpty(usize),
    Close(usize),
    FindClosed(usize),
    GiveUp(usize),
    FindEnd(usize),
    Wait(usize),
    Notify(usize),
    Wake(usize),
    Set(usize),
    Ask(usize),
    Await(usize),
    Pick,
    Spawn(usize),
    Join(usize),
}

/// Threads. Those that nobody spawns are there from the start.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
}

pub(crate) const OBJECTS: usize = 8;

/// How much a queue holds.
pub(crate) fn capacity(queue: usize) -> Option<usize> {
    match queue {
        1 => Some(1),
        2 => Some(2),
        _ => None,
    }
}

impl Program {
    pub fn new(threads: impl IntoIterator<Item = Vec<Op>>) -> Self {
        Program {
            threads: threads.into_iter().collect(),
        }
    }
}
