//! Operations: what they are called, how they meet their objects, and what a controller is told of one.
//!
//! This is the one vocabulary. The replay log, reports of divergence, exploration, schedules, breakpoints and JSON all use the
//! [`Op`]s that models define and the [`Access`]es that are defined here.

mod dependence;
mod name;
mod sentence;
mod value;

use std::{panic::Location, sync::atomic::AtomicU64};

pub use reenact_multiverse::OperationKind;

pub use self::{
    name::ObjectName,
    sentence::{third_person, with_object},
    value::{Change, Values},
};

use crate::{Arrival, Clock, Entity};

/// The name of an operation of some model. A reference, so that naming one costs a fast path nothing.
#[derive(Clone, Copy)]
pub struct Op(&'static OpInfo);

/// What there is to know of an operation: a code for the hash that guards replay, a name for people, a kind for breakpoints.
///
/// Codes need only differ among operations that the same program could do on the same entity: a model may use those of
/// others. Two [questions](crate::choose) that have the same one are taken for the same in a replay.
#[derive(Clone, Copy)]
pub struct OpInfo {
    /// The code.
    pub code: u8,
    /// The name.
    pub name: &'static str,
    /// What a debugger takes it for.
    pub kind: OperationKind,
    /// What it is about, a noun: `mutex`. Empty if its kind says enough.
    pub object: &'static str,
    /// What it reads or writes, if that is a value.
    pub values: Values,
    /// For an object that has several entities: how many bytes after the first of them the one is that is met here. To people they
    /// are one object, which they know by the first.
    pub part: Option<isize>,
}

impl Op {
    /// The operation described by `info`.
    pub const fn new(info: &'static OpInfo) -> Op {
        Op(info)
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What a debugger takes it for.
    pub const fn kind(self) -> OperationKind {
        self.0.kind
    }

    /// What it is about, a noun: `mutex`.
    pub fn object(self) -> &'static str {
        match self.0.object {
            "" => self.0.kind.object(),
            object => object,
        }
    }

    /// All there is to know of it.
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

/// Defines the operations of a model: constants of type [`Op`], each with its code, its kind and its name, and what it is
/// about if its kind does not say that well enough.
///
/// A name is what comes after "to", since people read it in sentences: `lock`, `send to a channel`. Where it names what it is
/// about, the object's own name is put there: "main.0 sends to channel@12".
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

/// How an operation meets an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Takes the object for itself, waiting as long as it must.
    Take,
    /// Takes the object for itself if it can have it at once.
    TryTake,
    /// Shares the object with others who look, waiting as long as it must.
    Look,
    /// Shares the object if it can at once.
    TryLook,
    /// Waits to take an object that others share: nobody shares it any more from now on. Not recorded, and a step of an exploration
    /// only where somebody shares something twice over, who would wait for who waits for it.
    Queue,
    /// Gives the object back. Not recorded, and a step of an exploration only where somebody tries to take or to share
    /// something: nobody else can tell when it happens.
    Release,
    /// Reads a value that the object guards, in one instant.
    Read,
    /// Changes a value that the object guards, in one instant.
    Write,
    /// Puts something into the object, after what others have put there.
    Send,
    /// Puts something into the object if that is possible at once.
    TrySend,
    /// Takes out what was put there first.
    Receive,
    /// Takes something out if that is possible at once.
    TryReceive,
    /// Ends a timed send: somebody received it, or its time is up.
    SendTimeout,
    /// Ends a timed receive: somebody sent something, or its time is up.
    ReceiveTimeout,
    /// Will not send any more.
    DropSender,
    /// Will not receive any more.
    DropReceiver,
    /// Begins to wait for a notification.
    Wait,
    /// Goes on after a notification, or because its time is up, and takes again what it had given back to wait.
    Wake {
        /// Whether there is a time limit.
        timed: bool,
    },
    /// Lets one of those who wait go on, or all of them.
    Notify {
        /// All of them.
        all: bool,
    },
    /// Takes the object or looks at it, until it leaves; which of the two shows then ([`Outcome::Placed`](crate::Outcome)).
    Transact,
    /// Asks a question whose answer depends on timing.
    Ask,
    /// Lets whoever explores choose.
    Choose,
    /// Brings a number from outside the program.
    Outside,
    /// Concerns nobody else: the activity begins, ends, creates another or joins one that has ended. Not recorded, and a step
    /// of an exploration only where a debugger wants to stop there.
    Own,
}

/// What a controller knows an object by.
///
/// An exploration keeps its own number of the object here. In a replay, bits 40 to 63 are the object's number in the log, as in
/// `wanted` of an [`Entity`]: 0 if it has none.
///
/// Part of every [`Entity`]; an object that has none because nothing of it is recorded (a promise, a variable of transactions)
/// has a name of its own.
pub struct Name(AtomicU64, &'static Location<'static>);

impl Name {
    /// Of an object that nobody has met, made at the caller's line. People know it by that line.
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

/// An object that activities meet at.
pub trait Named {
    #[doc(hidden)]
    fn cell(&self) -> &AtomicU64;

    /// The line of the program that made it.
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
        &self.entity.wanted
    }

    fn made_at(&self) -> &'static Location<'static> {
        self.entity.made_at
    }
}

impl Named for Entity {
    fn cell(&self) -> &AtomicU64 {
        &self.wanted
    }

    fn made_at(&self) -> &'static Location<'static> {
        self.made_at
    }
}

/// An object that an operation meets, and how: what it means to other operations.
#[derive(Clone, Copy)]
pub struct Touch<'a> {
    pub(crate) cell: &'a AtomicU64,
    pub(crate) made_at: &'static Location<'static>,
    pub(crate) access: Access,
    /// How many messages fit into a channel.
    pub(crate) room: usize,
}

impl<'a> Touch<'a> {
    /// An object, and how it is met.
    #[inline]
    pub fn new(object: &'a impl Named, access: Access) -> Touch<'a> {
        Touch {
            cell: object.cell(),
            made_at: object.made_at(),
            access,
            room: usize::MAX,
        }
    }

    /// A channel into which so many messages fit.
    #[must_use]
    #[inline]
    pub fn with_room(self, room: usize) -> Touch<'a> {
        Touch { room, ..self }
    }
}

/// An operation that is about to happen: everything that a controller may want to know of it.
#[derive(Clone, Copy)]
pub struct Announcement<'a> {
    /// What it is.
    pub op: Op,
    /// How it meets `entity`, as far as that is recorded.
    pub access: Access,
    /// What its place in an order is recorded of; none for questions, and for what is not recorded.
    pub entity: Option<&'a Entity>,
    /// What it means to others. If there is nothing here, it meets `entity` in the way of `access`, and a question without
    /// either may depend on anything.
    pub touches: &'a [Touch<'a>],
    /// Whether it can happen now, asked whenever somebody has done something. It always can if there is nothing here, unless
    /// that follows from its access: who takes an object waits until it is free.
    pub ready: Option<&'a dyn Fn() -> bool>,
    /// In how many ways it can go, if that is for the controller to decide ([`Decision::Way`](crate::Decision)).
    pub ways: Option<&'a dyn Fn() -> u32>,
    /// Which of its touches are possible now, where it is one of them that happens: those are its ways.
    pub possible: Option<&'a dyn Fn(usize) -> bool>,
    /// Whether it waits for a limited time only.
    pub is_timed: bool,
    /// For a question: the answer that is not worth writing down.
    pub predicted: u64,
    /// For a question: whether the answer follows from an operation that was announced before, so that asking for it is none.
    pub is_settled: bool,
    /// The line of the program that asked for it.
    pub site: &'static Location<'static>,
    /// What it is about, for people: the method that a message calls. It takes time, so only who shows it asks.
    pub label: Option<&'a dyn Fn() -> String>,
    /// The number of the other party: who is joined.
    pub with: Option<u32>,
    /// For a message that is sent, or handled: which one it is.
    pub envelope: Option<&'a Envelope<'a>>,
}

/// A message on its way to an actor.
#[derive(Clone, Copy)]
pub struct Envelope<'a> {
    /// Who handles it.
    pub to: u32,
    /// By what that one tells it from others.
    pub arrival: Arrival,
    /// For a turn: what can be seen of the actor now, if it can be shown at all.
    pub state: Option<&'a dyn Fn() -> Option<String>>,
}

impl Announcement<'_> {
    /// The message that is sent or handled, by what its receiver tells it from others; none for one that is known by its
    /// sender.
    pub(crate) fn message(&self) -> Option<Arrival> {
        let arrival = self.envelope?.arrival;
        let is_turn = self.op.kind() == OperationKind::Turn;
        (is_turn || arrival.is_numbered()).then_some(arrival)
    }
}

impl<'a> Announcement<'a> {
    /// An operation at the caller's line, of which nothing else is known.
    #[track_caller]
    #[inline(always)]
    pub fn new(op: Op, access: Access) -> Announcement<'a> {
        Announcement {
            op,
            access,
            entity: None,
            touches: &[],
            ready: None,
            ways: None,
            possible: None,
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
