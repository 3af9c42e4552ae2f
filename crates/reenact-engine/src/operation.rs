//! Operations: their names, how they use objects, and how they are announced to a controller.
//!
//! This is the one vocabulary of the replay log, divergence reports, exploration, schedules, breakpoints and JSON: the
//! [`Op`]s that models define, and the [`Access`]es defined here.

mod access;
#[cfg(feature = "explore")]
mod dependence;
mod name;
mod sentence;
mod value;

use std::panic::Location;

pub use reenact_operation::OperationKind;
use serde::{Deserialize, Serialize};

pub use self::{
    name::ObjectName,
    sentence::{third_person, with_object},
    value::{Change, Values},
};

use crate::{Arrival, Clock, Object, loom::AtomicU64};

/// An operation of a model. A reference, so that naming one costs nothing on a fast path.
#[derive(Clone, Copy)]
pub struct Op(&'static OpInfo);

/// The description of an operation: a code for the hash that guards replay, a name for people, a kind for breakpoints.
///
/// Codes need only differ among operations that the same program could do on the same object, so a model of another
/// repository may use any. A replay does not distinguish two operations without an object that have the same code, such
/// as two [questions](crate::choose). So the crates of this one share no code:
///
/// | codes | operations |
/// |---|---|
/// | `0x01`–`0x1f` | `reenact`: threads and locks |
/// | `0x40`–`0x4f` | `reenact`: actors |
/// | `0x50`–`0x5f` | the engine: light activities, pools and sources |
/// | `0x60`–`0x6f` | `reenact`: transactions |
/// | `0x70`–`0x7f` | `reenact`: channels |
/// | `0x80`–`0xbf` | `reenact`: files, the network and processes |
/// | `0xc0`–`0xcf` | `reenact-http` |
/// | `0xf0`–`0xff` | the engine: clocks and random bytes, and the lives of activities |
#[derive(Clone, Copy)]
pub struct OpInfo {
    /// The code, part of the replay hash.
    pub code: u8,
    /// The name, for people.
    pub name: &'static str,
    /// The kind, for debuggers.
    pub kind: OperationKind,
    /// The noun for its object, such as `mutex`. Empty if the kind's noun will do.
    pub object: &'static str,
    /// How the value that it reads or writes is shown.
    pub values: Values,
    /// For an object of several parts: the offset in bytes of the part that this operation uses from the first part.
    /// People know the whole object by its first part.
    pub part: Option<isize>,
}

impl Op {
    /// The operation described by `info`.
    pub const fn new(info: &'static OpInfo) -> Op {
        Op(info)
    }

    /// Returns the name, for people.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the kind, for debuggers.
    pub const fn kind(self) -> OperationKind {
        self.0.kind
    }

    /// Returns the noun for its object, such as `mutex`.
    pub fn object(self) -> &'static str {
        match self.0.object {
            "" => self.0.kind.object(),
            object => object,
        }
    }

    /// Returns the description.
    pub const fn info(self) -> &'static OpInfo {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn code(self) -> u8 {
        self.0.code
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Defines the operations of a model: constants of type [`Op`], each with its code, its kind and its name, and the noun
/// for its object if the kind's noun will not do.
///
/// A name is a verb phrase that fits after "to", since people read it in sentences: `lock`, `send to a channel`. Where
/// it contains the noun, the object's own name replaces it: "main.0 sends to channel@12".
///
/// ```
/// reenact_engine::operations! {
///     pub ARRIVE = 2 Barrier "arrive at a phaser" of "phaser";
///     pub LOCK = 1 Lock "lock";
/// }
/// assert_eq!((ARRIVE.name(), ARRIVE.object()), ("arrive at a phaser", "phaser"));
/// assert_eq!(LOCK.object(), "lock");
/// ```
#[macro_export]
macro_rules! operations {
    ($($visibility:vis $op:ident = $code:literal $kind:ident $name:literal $(of $object:literal)?;)*) => {$(
        #[doc = $name]
        $visibility const $op: $crate::Op = $crate::Op::new(&$crate::OpInfo {
            code: $code,
            name: $name,
            kind: $crate::OperationKind::$kind,
            object: ::core::concat!($($object)?),
            values: $crate::Values::Hidden,
            part: ::core::option::Option::None,
        });
    )*};
}

/// How an operation uses an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Access {
    /// Takes the object exclusively; blocks until it can.
    Take,
    /// Takes the object exclusively if it can without blocking.
    TryTake,
    /// Shares the object with other looks, like a read lock; blocks until it can.
    Look,
    /// Shares the object if it can without blocking.
    TryLook,
    /// Queues to take an object that others share: from now on no other activity can start to share it. Not recorded. A
    /// step of an exploration only where some activity shares an object twice, because its second look would wait for
    /// the queued take, which waits for its first.
    Queue,
    /// Releases the object. Not recorded. A step of an exploration only where some activity tries to take or share an
    /// object without blocking: no other operation can observe when a release happens.
    Release,
    /// Reads a value that the object guards, atomically.
    Read,
    /// Changes a value that the object guards, atomically.
    Write,
    /// Appends a message to the object.
    Send,
    /// Appends a message if it can without blocking.
    TrySend,
    /// Removes the oldest message.
    Receive,
    /// Removes the oldest message if it can without blocking.
    TryReceive,
    /// Ends a timed send: the message was received, or the time is up.
    SendTimeout,
    /// Ends a timed receive: a message was sent, or the time is up.
    ReceiveTimeout,
    /// Drops a sender.
    DropSender,
    /// Drops a receiver.
    DropReceiver,
    /// Begins to wait for a notification.
    Wait,
    /// Continues after a notification or a timeout, and takes again the object that it released to wait.
    Wake {
        /// Whether there is a time limit.
        timed: bool,
    },
    /// Wakes one waiting activity, or all of them.
    Notify {
        /// Whether all are woken.
        all: bool,
    },
    /// Takes the object or looks at it until it leaves. Which of the two it is is known only at its end
    /// ([`Outcome::Placed`](crate::Outcome)).
    Transact,
    /// Asks a question whose answer depends on timing.
    Ask,
    /// Lets the exploration choose.
    Choose,
    /// Brings a number into the program from outside.
    Outside,
    /// Affects no other activity: the activity begins, ends, creates another or joins one that has ended. Not recorded.
    /// A step of an exploration only where a debugger wants to stop there.
    Own,
}

/// The identity of an object for a controller.
///
/// An exploration keeps its own number for the object here. In a replay, bits 40 to 63 are the object's number in the
/// log, or 0 if it has none, as in `wanted` of an [`Object`].
///
/// Every [`Object`] includes one. A promise or a transactional variable, of which nothing is recorded and which
/// therefore has no `Object`, has a `Name` of its own.
pub struct Name(AtomicU64, &'static Location<'static>);

impl Name {
    /// Names an object that no activity has used, created at the caller's line. People know it by that line.
    #[track_caller]
    pub const fn new() -> Name {
        Name(AtomicU64::new(0), Location::caller())
    }
}

impl Default for Name {
    #[track_caller]
    fn default() -> Name {
        Name::new()
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Name")
    }
}

/// An object that activities share.
pub trait Named {
    #[doc(hidden)]
    fn cell(&self) -> &AtomicU64;

    /// Returns the line of the program that created the object.
    fn made_at(&self) -> &'static Location<'static>;
}

impl Named for Name {
    fn cell(&self) -> &AtomicU64 {
        &self.0
    }

    fn made_at(&self) -> &'static Location<'static> {
        self.1
    }
}

impl Named for Clock {
    fn cell(&self) -> &AtomicU64 {
        &self.object.wanted
    }

    fn made_at(&self) -> &'static Location<'static> {
        self.object.made_at
    }
}

impl Named for Object {
    fn cell(&self) -> &AtomicU64 {
        &self.wanted
    }

    fn made_at(&self) -> &'static Location<'static> {
        self.made_at
    }
}

/// An object that an operation uses, and how it uses it. Dependence between operations follows from this.
#[derive(Clone, Copy)]
pub struct Touch<'a> {
    pub(crate) cell: &'a AtomicU64,
    pub(crate) made_at: &'static Location<'static>,
    pub(crate) access: Access,
    /// The capacity of the channel.
    pub(crate) room: usize,
}

impl<'a> Touch<'a> {
    /// An object, used with this access.
    #[inline]
    pub fn new(object: &'a impl Named, access: Access) -> Touch<'a> {
        Touch {
            cell: object.cell(),
            made_at: object.made_at(),
            access,
            room: usize::MAX,
        }
    }

    /// Sets the capacity of the channel.
    #[must_use]
    #[inline]
    pub fn with_room(self, room: usize) -> Touch<'a> {
        Touch { room, ..self }
    }
}

/// An operation that is about to happen, with everything that a controller may need to know about it.
#[derive(Clone, Copy)]
pub struct Announcement<'a> {
    /// The operation.
    pub op: Op,
    /// How it uses `object`, as far as that is recorded.
    pub access: Access,
    /// The object in whose order its position is recorded. None for questions, and for operations that are not
    /// recorded.
    pub object: Option<&'a Object>,
    /// The objects that it uses, which decide what it depends on. If empty, it uses `object` with `access`; a question
    /// with neither may depend on anything.
    pub touches: &'a [Touch<'a>],
    /// Whether it can happen now; called after every operation of another activity. If `None`, it always can, unless
    /// its access says otherwise: a take waits until the object is free.
    pub ready: Option<&'a dyn Fn() -> bool>,
    /// The number of possible outcomes, if the controller chooses among them ([`Decision::Way`](crate::Decision)).
    pub ways: Option<&'a dyn Fn() -> u32>,
    /// For a selection, of whose touches one happens: whether the touch of this index is possible now. The possible
    /// ones are its outcomes.
    pub possible: Option<&'a dyn Fn(usize) -> bool>,
    /// For a write: whether it would change the value now. One that would not, such as a compare-and-swap that fails,
    /// only reads.
    pub changes: Option<&'a dyn Fn() -> bool>,
    /// Whether its wait has a time limit.
    pub is_timed: bool,
    /// For a question: the predicted answer, which is not written to the trace.
    pub predicted: u64,
    /// For a question: whether the answer follows from an operation that was already announced, so that the question is
    /// not an operation of its own.
    pub is_settled: bool,
    /// The line of the program that does it.
    pub site: &'static Location<'static>,
    /// A text for people, such as the method that a message calls. It takes time to produce, so it is only called to be
    /// shown.
    pub label: Option<&'a dyn Fn() -> String>,
    /// The number of the other activity: the one that is joined.
    pub with: Option<u32>,
    /// For a message that is sent or handled: its identity.
    pub envelope: Option<&'a Envelope<'a>>,
}

/// A message to an actor.
#[derive(Clone, Copy)]
pub struct Envelope<'a> {
    /// The number of the activity that handles it.
    pub to: u32,
    /// What identifies it to its receiver.
    pub arrival: Arrival,
    /// For a turn: describes the current state of the actor, if it can be shown at all.
    pub state: Option<&'a dyn Fn() -> Option<String>>,
}

impl Announcement<'_> {
    /// Returns the identity of the message that is sent or handled; none for a message that is sent and is known by its
    /// sender alone.
    pub(crate) fn message(&self) -> Option<Arrival> {
        let arrival = self.envelope?.arrival;
        let is_turn = self.op.kind() == OperationKind::Turn;
        (is_turn || arrival.is_numbered()).then_some(arrival)
    }
}

impl<'a> Announcement<'a> {
    /// An operation at the caller's line, with nothing else set.
    #[track_caller]
    #[inline(always)]
    pub fn new(op: Op, access: Access) -> Announcement<'a> {
        Announcement {
            op,
            access,
            object: None,
            touches: &[],
            ready: None,
            ways: None,
            possible: None,
            changes: None,
            is_timed: false,
            predicted: 0,
            is_settled: false,
            site: Location::caller(),
            label: None,
            with: None,
            envelope: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        fs,
        path::{Path, PathBuf},
    };

    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false if path.extension().is_some_and(|extension| extension == "rs") => {
                    found.push(path);
                }
                false => {}
            }
        }
    }

    /// Returns the code, the kind and the name of an operation that this line of a call of `operations!` defines.
    fn operation(line: &str) -> Option<(u8, &str, &str)> {
        let (constant, rest) = line.trim().split_once(" = ")?;
        let (code, rest) = rest.split_once(' ')?;
        let (kind, rest) = rest.split_once(" \"")?;
        let (name, _) = rest.split_once('"')?;
        let code = match code.strip_prefix("0x") {
            Some(code) => u8::from_str_radix(code, 16),
            None => code.parse(),
        };
        let constant = constant.rsplit(' ').next()?;
        let is_constant = constant
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b == b'_');
        is_constant.then_some((code.ok()?, kind, name))
    }

    #[test]
    fn operations_with_the_same_code_have_the_same_name() {
        let mut files = Vec::new();
        for krate in ["reenact", "reenact-engine", "reenact-http"] {
            let here = Path::new(env!("CARGO_MANIFEST_DIR"));
            sources(&here.with_file_name(krate).join("src"), &mut files);
        }
        let mut names = HashMap::new();
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.lines().filter(|line| !line.starts_with("//"));
            let operations = code.filter_map(operation);
            // The second half of a wait is part of the same operation.
            for (code, kind, name) in operations.filter(|(_, kind, _)| *kind != "Wake") {
                let other = names.insert(code, (kind.to_owned(), name.to_owned()));
                let file = file.display();
                assert!(other.is_none(), "{file}: {code:#x} is {name} and {other:?}");
            }
        }
        assert!(names.len() > 80, "{names:?}");
    }
}
