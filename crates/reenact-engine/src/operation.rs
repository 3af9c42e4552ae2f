//! What an operation is called, and what a conductor is told of it.

use std::panic::Location;

use crate::{Activity, Entity};

/// The name of an operation of some model: a code for the hash that guards replay, a word for people.
///
/// Codes need only differ among operations that the same program could do on the same entity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Op {
    code: u8,
    name: &'static str,
}

impl Op {
    /// An operation with this code and name.
    pub const fn new(code: u8, name: &'static str) -> Op {
        Op { code, name }
    }

    /// The word for people.
    pub const fn name(self) -> &'static str {
        self.name
    }

    pub(crate) const fn code(self) -> u8 {
        self.code
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
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
    /// Reads a value that the entity guards, in one instant.
    Observe,
    /// Changes a value that the entity guards, in one instant.
    Update,
    /// Meets no one, but others may go on because of it (a notification).
    Announce,
    /// Asks a question whose answer depends on timing.
    Choose {
        /// The answer that is not worth writing down.
        predicted: u64,
    },
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
    /// The line of the program that asked for it.
    pub site: &'static Location<'static>,
}
