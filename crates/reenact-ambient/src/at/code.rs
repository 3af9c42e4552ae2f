//! What a program is compiled to.
//!
//! The sugar is gone, every name is resolved to a place, and an expression is a sequence of instructions for a machine
//! with a stack. That makes a state small: an actor in the middle of an expression is a few numbers and values.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use reenact_multiverse::Site;

use super::value::Value;

/// A method, a block or an initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct CodeId(pub(crate) u32);

/// What objects of one `object:`, `isolate:` or `actor:` have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ClassId(pub(crate) u32);

/// The name of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SelectorId(pub(crate) u32);

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SiteId(pub(crate) u32);

/// A compiled program.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) bodies: Vec<Body>,
    pub(crate) classes: Vec<Class>,
    pub(crate) selectors: Vec<String>,
    /// Places; what the program does not say itself has none.
    pub(crate) sites: Vec<Option<Site>>,
    /// The lines at which statements begin, in order.
    pub(crate) lines: Vec<u32>,
    pub(crate) names: KnownNames,
    /// What numbers, booleans, texts and lists can do beyond what is built in.
    pub(crate) library: Library,
}

/// Names that the machine itself uses.
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

/// The class of the program itself: the behaviour of the main actor.
pub(crate) const PROGRAM: ClassId = ClassId(0);

/// No place: what is made by the machine.
pub(crate) const NOWHERE: SiteId = SiteId(0);

/// The instructions of a method, a block or an initialisation.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// How people call it.
    pub(crate) name: String,
    pub(crate) params: u32,
    /// Variables, with `this` first, then the parameters.
    pub(crate) locals: u32,
    /// For a block: the variables that get what it has captured, after `this`.
    pub(crate) captured: Vec<u32>,
    pub(crate) instructions: Vec<Instruction>,
    /// The place of each instruction.
    pub(crate) sites: Vec<SiteId>,
    /// Where it stands itself.
    pub(crate) site: Option<Site>,
}

/// An object's class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) kind: ClassKind,
    /// How people call it, judging by the function around it.
    pub(crate) name: String,
    /// Fields that have names; fields after these are captured variables.
    pub(crate) fields: Vec<String>,
    pub(crate) methods: HashMap<SelectorId, CodeId>,
    /// Initialises the fields in order; its parameters are those of an actor or an isolate.
    pub(crate) init: CodeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassKind {
    Object,
    Isolate,
    Actor,
}

/// What the machine can do. Pops its operands, the last one first, and pushes its result.
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
    /// object → the value of a field of a class that is known
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
    /// list → its values, the last one first; it must have as many.
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
    /// Errors are caught at this instruction, with the error on the stack.
    Catch(u32),
    /// …no more.
    EndCatch,
    /// error → does not come back
    Raise,
    /// The result is on the stack.
    Return,
}

impl Instruction {
    /// The receiver and the arguments of what sends, on the stack before it does. Above them is the future of the answer, if
    /// there is one.
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
