//! What an operation is called, and what a conductor is told of it.

use std::panic::Location;

use crate::{Activity, Entity};

/// The name of an operation of some model. A reference, so that naming one costs a fast path nothing.
#[derive(Clone, Copy)]
pub struct Op(&'static OpInfo);

/// What there is to know of an operation: a code for the hash that guards replay, a word for people.
///
/// Codes need only differ among operations that the same program could do on the same entity: a model may use those of
/// others. Two [questions](crate::choose) that have the same one are taken for the same in a replay.
pub struct OpInfo {
    /// The code.
    pub code: u8,
    /// The word.
    pub name: &'static str,
}

impl Op {
    /// The operation described by `info`.
    pub const fn new(info: &'static OpInfo) -> Op {
        Op(info)
    }

    /// The word for people.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// All there is to know of it.
    pub(crate) const fn info(self) -> &'static OpInfo {
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

/// How an operation meets its entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Takes the entity for itself, waiting as long as it must.
    Take,
    /// Takes the entity for itself if it can have it at once.
    TryTake,
    /// Shares the entity with others who look, waiting as long as it must.
    Look,
    /// Shares the entity if it can at once.
    TryLook,
    /// Has given the entity back and takes it again when it is signalled, or when its time is up.
    Wait {
        /// Whether there is a time limit.
        timed: bool,
    },
    /// Takes the entity or looks at it, until it leaves; which of the two shows then
    /// ([`Conductor::turns_out`](crate::Conductor::turns_out)).
    Transact,
    /// Reads a value that the entity guards, in one instant.
    Observe,
    /// Changes a value that the entity guards, in one instant.
    Update,
    /// Meets no one, but others may go on because of it (a notification).
    Announce,
    /// Asks a question whose answer depends on timing.
    Choose,
    /// Brings a number from outside the program.
    Outside,
}

/// An operation that is about to happen.
pub struct Operation<'a> {
    /// Who does it.
    pub activity: &'a Activity,
    /// What it is.
    pub op: Op,
    /// How it meets the entity.
    pub access: Access,
    /// What it is done to; none for questions and for what comes from outside.
    pub entity: Option<&'a Entity>,
    /// For a question: the answer that is not worth writing down.
    pub predicted: u64,
    /// The line of the program that asked for it.
    pub site: &'static Location<'static>,
}
