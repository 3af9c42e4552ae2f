//! The compiled form of a program.
//!
//! It is desugared, every name is resolved to a place, and an expression is a sequence of instructions for a stack
//! machine. That makes a state small: an actor in the middle of an expression is a few numbers and values.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use reenact_multiverse::Site;

use super::value::Value;

/// The code of a method, a block or an initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct CodeId(pub(crate) u32);

/// What the objects of one `object:`, `isolate:` or `actor:` expression have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ClassId(pub(crate) u32);

/// The name of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SelectorId(pub(crate) u32);

/// A position in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SiteId(pub(crate) u32);

/// A compiled program.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) bodies: Vec<Body>,
    pub(crate) classes: Vec<Class>,
    pub(crate) selectors: Vec<String>,
    /// Source positions; `None` for code that is not from the program itself.
    pub(crate) sites: Vec<Option<Site>>,
    /// The lines at which statements begin, sorted.
    pub(crate) lines: Vec<u32>,
    pub(crate) names: KnownNames,
    /// The methods of numbers, booleans and lists that are not built in.
    pub(crate) library: Library,
}

/// Selectors that the machine itself uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownNames {
    pub(crate) apply: SelectorId,
    pub(crate) resolve: SelectorId,
    pub(crate) ruin: SelectorId,
    pub(crate) when: SelectorId,
}

/// The classes of the library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    pub(crate) number: ClassId,
    pub(crate) bool: ClassId,
    pub(crate) list: ClassId,
}

/// The class of the program itself, which is the behaviour of the main actor.
pub(crate) const PROGRAM: ClassId = ClassId(0);

/// No position, for what the machine creates.
pub(crate) const NOWHERE: SiteId = SiteId(0);

/// The instructions of a method, a block or an initialisation.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// Its name, as the user sees it.
    pub(crate) name: String,
    pub(crate) params: u32,
    /// The number of variables: `this`, then the parameters, then the others.
    pub(crate) locals: u32,
    /// For a block: the variables that receive the captured values, after `this`.
    pub(crate) captured: Vec<u32>,
    pub(crate) instructions: Vec<Instruction>,
    /// The position of each instruction.
    pub(crate) sites: Vec<SiteId>,
    /// Its own position.
    pub(crate) site: Option<Site>,
}

/// An object's class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) kind: ClassKind,
    /// Its name as the user sees it, derived from the function around it.
    pub(crate) name: String,
    /// The named fields; the fields after these are captured variables.
    pub(crate) fields: Vec<String>,
    pub(crate) methods: HashMap<SelectorId, CodeId>,
    /// Initialises the fields in order. Its parameters are those of the actor or isolate.
    pub(crate) init: CodeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassKind {
    Object,
    Isolate,
    Actor,
}

/// An instruction of the machine. It pops its operands, last one first, and pushes its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// A statement begins on this line.
    Line(u32),
    Push(Value),
    Pop,
    Dup,
    /// Pushes a variable.
    Local(u32),
    /// Sets a variable: let.
    SetLocal(u32),
    /// Puts a variable into a cell, so that blocks can share it.
    Box(u32),
    /// cell → value
    Unbox,
    /// cell, value → value
    SetBox,
    /// object → the value of a field, if the class is known
    Slot(u32),
    /// object, value → value
    SetSlot(u32),
    /// object → value, by name
    Field(SelectorId),
    /// object, value → value, by name
    SetField(SelectorId),
    Jump(u32),
    /// boolean →
    JumpUnless(u32),
    /// values → list
    List(u32),
    /// list, index → value
    Index,
    /// list, index, value → value
    SetIndex,
    /// list → its values, last one first; the list must have this length.
    Unpack(u32),
    /// receiver, arguments → result
    Invoke(SelectorId, u32),
    /// block, arguments → result
    Apply(u32),
    /// captured values → block
    Block(CodeId, u32),
    /// captured values, parameters → object
    Object {
        class: ClassId,
        captured: u32,
        params: u32,
    },
    /// parameters → far reference to the behaviour of a new actor
    Actor {
        class: ClassId,
        params: u32,
    },
    /// → future, resolver
    MakeFuture,
    /// receiver, arguments → null; or receiver, arguments, future, resolver → future
    Send {
        selector: SelectorId,
        args: u32,
        is_two_way: bool,
    },
    /// receiver, block, block or null, future, resolver → future
    Register,
    /// Catches errors from here on: continues at this instruction, with the error on the stack.
    Catch(u32),
    /// Ends the innermost `Catch`.
    EndCatch,
    /// error → does not return
    Raise,
    /// Returns the value on the stack.
    Return,
}

impl Instruction {
    /// Returns the receiver and the arguments that a sending instruction finds on the stack. Above them are the future
    /// and resolver of the answer, if there are any.
    pub(crate) fn sent(self, stack: &[Value]) -> Option<(Value, &[Value])> {
        let (args, is_two_way) = match self {
            Instruction::Send {
                args, is_two_way, ..
            } => (args as usize, is_two_way),
            Instruction::Register => (2, true),
            _ => return None,
        };
        let end = stack.len() - if is_two_way { 2 } else { 0 };
        let begin = end - args;
        Some((stack[begin - 1], &stack[begin..end]))
    }
}

impl Code {
    pub(crate) fn body(&self, id: CodeId) -> &Body {
        &self.bodies[id.0 as usize]
    }

    pub(crate) fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    pub(crate) fn selector(&self, id: SelectorId) -> &str {
        &self.selectors[id.0 as usize]
    }

    pub(crate) fn site(&self, id: SiteId) -> Option<Site> {
        self.sites[id.0 as usize]
    }
}
