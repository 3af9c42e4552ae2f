//! The language of generated programs: a line for what there is, and a line of operations for each thread, so that one
//! that fails can be read, kept and run again.
//!
//! ```text
//! mutexes 2 rwlocks 1 atomics 1 cells 1 channels -,0,2
//! 0 by 0 at 0: lock:0,1 spin:3 send:1
//! 1 by 0 at 1: recv:1,50
//! ```
//!
//! Thread 1 is started by thread 0 before that one's operation number 1; thread 0 is `main`. Numbers too large wrap
//! around, so that whatever can be read can be run.

use std::{fmt, str::FromStr};

use reenact_testing::{
    language::{self, Fields},
    verbs,
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) mutexes: usize,
    pub(crate) rwlocks: usize,
    pub(crate) atomics: usize,
    pub(crate) cells: usize,
    /// How much room each has; none for one without bound.
    pub(crate) channels: Vec<Option<usize>>,
    pub(crate) threads: Vec<Thread>,
}

/// A thread of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Who starts it. Always one that comes before it.
    pub(crate) parent: usize,
    /// Before which operation of its parent.
    pub(crate) at: usize,
    pub(crate) operations: Vec<Operation>,
}

/// Something that a thread does: to what, and for how many microseconds.
pub(crate) type Operation = language::Operation<Verb>;

verbs! {
    /// Locks the mutexes, the lowest first.
    Lock "lock",
    TryLock "trylock",
    /// Panics with the lock.
    Panic "panic",
    /// Clears the poison, with the lock.
    Mend "mend",
    Wait "wait",
    WaitWhile "waitwhile",
    NotifyOne "notify",
    NotifyAll "notifyall",
    Read "read",
    TryRead "tryread",
    Write "write",
    TryWrite "trywrite",
    Downgrade "downgrade",
    Load "load",
    Store "store",
    Swap "swap",
    Add "add",
    /// Compares and exchanges, with what was there a moment ago.
    Exchange "exchange",
    Update "update",
    /// Spins until the atomic changes, so many times at most.
    Spin "spin",
    Get "get",
    Init "init",
    /// Sends. Waits for room where that cannot be in vain: see the interpreter.
    Send "send",
    TrySend "trysend",
    Recv "recv",
    TryRecv "tryrecv",
    Park "park",
    Unpark "unpark",
    Finished "finished",
    Join "join",
    Yield "yield",
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channels: Vec<_> = self
            .channels
            .iter()
            .map(|&room| language::limit_to_text(room))
            .collect();
        write!(
            f,
            "mutexes {} rwlocks {} atomics {} cells {} channels {}",
            self.mutexes,
            self.rwlocks,
            self.atomics,
            self.cells,
            channels.join(",")
        )?;
        for (number, thread) in self.threads.iter().enumerate() {
            write!(f, "\n{number} by {} at {}:", thread.parent, thread.at)?;
            for operation in &thread.operations {
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
        let head = Fields::of(lines.next().unwrap_or_default());
        let mut threads = Vec::new();
        for line in lines {
            threads.push(thread(line)?);
        }
        Ok(Program {
            mutexes: head.number("mutexes")?,
            rwlocks: head.number("rwlocks")?,
            atomics: head.number("atomics")?,
            cells: head.number("cells")?,
            channels: head
                .text("channels")?
                .split(',')
                .map(language::limit)
                .collect::<Result<_, _>>()?,
            threads,
        })
    }
}

fn thread(line: &str) -> Result<Thread, String> {
    let (head, operations) = line.split_once(':').ok_or("no colon")?;
    let (_, head) = head.split_once(' ').ok_or("no thread")?;
    let head = Fields::of(head);
    Ok(Thread {
        parent: head.number("by")?,
        at: head.number("at")?,
        operations: language::script(operations)?,
    })
}
