//! An actor: ⟨identity, heap, inbox, expression⟩.
//!
//! This is the form in which an actor executes. Between steps it is stored in its canonical form, see `canonical`.
//!
//! # Invariants
//!
//! 1. All references into the heap are [`HeapId`]s of this actor; other actors hold [`Far`] references, which name a
//!    slot of `exports`.
//! 2. Slot 0 is the behaviour.
//! 3. An actor without a turn has no value, since nothing could ask for it.
//! 4. `waiting` lists the unresolved futures that have stored messages or subscribers, and `ruined` the futures with an
//!    error that no subscriber has received, each in the order in which that began. They are kept even if nothing else
//!    refers to them; otherwise a deadlock could go unnoticed.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{
    code::{ClassId, CodeId, SelectorId, SiteId},
    tables::{ActorId, TextId},
    value::{Far, FarKind, HeapId, Value},
};

/// An actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Actor {
    pub(crate) id: ActorId,
    /// The number of actors that it has created.
    pub(crate) children: u32,
    pub(crate) heap: Vec<HeapEntry>,
    /// What other actors may refer to, by slot, oldest first.
    pub(crate) exports: Vec<HeapId>,
    pub(crate) inbox: VecDeque<Message>,
    pub(crate) turn: Option<Turn>,
    /// The texts that it has printed.
    pub(crate) printed: Vec<TextId>,
    /// The errors that ended a turn whose result has no future.
    pub(crate) errors: Vec<TextId>,
    pub(crate) waiting: Vec<HeapId>,
    pub(crate) ruined: Vec<HeapId>,
}

/// An entry in the heap of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum HeapEntry {
    /// An object or an isolate, depending on its class.
    Object {
        class: ClassId,
        fields: Vec<Value>,
    },
    /// A block: an object with one method `apply`, and the values that it has captured, `this` first.
    Block {
        code: CodeId,
        captured: Vec<Value>,
    },
    /// A variable that a block has captured and that is assigned.
    Cell(Value),
    List(Vec<Value>),
    Future(Future),
    /// Resolves its future.
    Resolver(HeapId),
}

/// A future: ⟨identity, stored messages, value or unresolved⟩.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Future {
    pub(crate) state: FutureState,
    /// Where the program created it.
    pub(crate) site: SiteId,
    /// Whether the debugger follows what resolved it.
    pub(crate) is_marked: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FutureState {
    Unresolved {
        /// Messages to the value.
        stored: Vec<Message>,
        /// Registered blocks, as the messages that registered them.
        subscribers: Vec<Message>,
    },
    Resolved(Value),
    Ruined(Value),
}

/// A message: ⟨receiver, method, arguments⟩, its sender and where it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) kind: MessageKind,
    pub(crate) receiver: Value,
    pub(crate) selector: SelectorId,
    pub(crate) args: Vec<Value>,
    /// The hidden last argument, which resolves the future of a two-way message.
    pub(crate) resolver: Option<Value>,
    pub(crate) sender: ActorId,
    pub(crate) site: SiteId,
    /// Whether the debugger follows it.
    pub(crate) is_marked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MessageKind {
    /// Sent by the program.
    Plain,
    /// Registers blocks with a future: the arguments are the block for its value and the block for its error, or null.
    /// If the block is null, the future of the registration gets the same value or error.
    Register,
    /// Runs a registered block.
    Callback,
    /// Resolves a future with a value.
    Resolve,
    /// Ruins a future with an error.
    Ruin,
}

/// A turn: the processing of one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) cause: TurnCause,
    /// The frames that are being evaluated, innermost last. Never empty between steps.
    pub(crate) frames: Vec<Frame>,
    /// Resolved with the result of the turn.
    pub(crate) resolver: Option<Value>,
    /// Whether the debugger follows the next message that is sent.
    pub(crate) marks_next: bool,
}

/// What began a turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum TurnCause {
    /// The creation of the actor: it initialises its fields.
    Creation,
    Message {
        kind: MessageKind,
        selector: SelectorId,
        site: SiteId,
        sender: ActorId,
        is_marked: bool,
    },
}

/// A frame of the evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Frame {
    /// Code that is being executed.
    Code {
        code: CodeId,
        pc: u32,
        /// `this`, captured values, parameters and variables.
        locals: Vec<Value>,
        stack: Vec<Value>,
        /// The handlers for errors: where to continue, and the height of the stack to restore.
        handlers: Vec<(u32, u32)>,
    },
    /// Messages that remain to be sent, such as those of a resolution.
    Sends(VecDeque<Message>),
}

impl Actor {
    /// Creates an actor that has done nothing yet.
    pub(crate) fn new(id: ActorId) -> Actor {
        Actor {
            id,
            children: 0,
            heap: Vec::new(),
            exports: Vec::new(),
            inbox: VecDeque::new(),
            turn: None,
            printed: Vec::new(),
            errors: Vec::new(),
            waiting: Vec::new(),
            ruined: Vec::new(),
        }
    }

    pub(crate) fn alloc(&mut self, entry: HeapEntry) -> Value {
        self.heap.push(entry);
        Value::Near(HeapId(self.heap.len() as u32 - 1))
    }

    pub(crate) fn get(&self, id: HeapId) -> &HeapEntry {
        &self.heap[id.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, id: HeapId) -> &mut HeapEntry {
        &mut self.heap[id.0 as usize]
    }

    /// Returns the entry that a value of this actor refers to, if it is in its heap.
    pub(crate) fn entry(&self, value: Value) -> Option<&HeapEntry> {
        match value {
            Value::Near(id) => Some(self.get(id)),
            _ => None,
        }
    }

    pub(crate) fn future_mut(&mut self, id: HeapId) -> &mut Future {
        match self.get_mut(id) {
            HeapEntry::Future(future) => future,
            other => unreachable!("a resolver or a list of futures names {other:?}"),
        }
    }

    /// Whether a value is a future, near or far.
    pub(crate) fn is_future(&self, value: Value) -> bool {
        match value {
            Value::Far(far) => far.kind == FarKind::Future,
            near => matches!(self.entry(near), Some(HeapEntry::Future(_))),
        }
    }

    /// Makes a near entry accessible to other actors.
    pub(crate) fn export(&mut self, id: HeapId) -> Far {
        let kind = match self.get(id) {
            HeapEntry::Future(_) => FarKind::Future,
            HeapEntry::Resolver(_) => FarKind::Resolver,
            _ => FarKind::Object,
        };
        let slot = self
            .exports
            .iter()
            .position(|&one| one == id)
            .unwrap_or_else(|| {
                self.exports.push(id);
                self.exports.len() - 1
            });
        Far {
            actor: self.id,
            slot: slot as u32,
            kind,
        }
    }

    /// Calls `visit` with every message that the actor holds.
    pub(crate) fn visit_messages(&mut self, visit: &mut impl FnMut(&mut Message)) {
        self.inbox.iter_mut().for_each(&mut *visit);
        for entry in &mut self.heap {
            if let HeapEntry::Future(Future {
                state:
                    FutureState::Unresolved {
                        stored,
                        subscribers,
                    },
                ..
            }) = entry
            {
                stored.iter_mut().chain(subscribers).for_each(&mut *visit);
            }
        }
        for frame in self.turn.iter_mut().flat_map(|turn| &mut turn.frames) {
            if let Frame::Sends(messages) = frame {
                messages.iter_mut().for_each(&mut *visit);
            }
        }
    }

    /// Calls `visit` with every value that the actor holds.
    pub(crate) fn visit(&mut self, visit: &mut impl FnMut(&mut Value)) {
        for entry in &mut self.heap {
            entry.visit(visit);
        }
        for message in &mut self.inbox {
            message.visit(visit);
        }
        if let Some(turn) = &mut self.turn {
            turn.visit(visit);
        }
    }
}

impl HeapEntry {
    /// Visits the values within it, in order. The future of a resolver is not a value.
    pub(crate) fn visit(&mut self, visit: &mut impl FnMut(&mut Value)) {
        match self {
            HeapEntry::Object { fields, .. } => fields.iter_mut().for_each(visit),
            HeapEntry::Block { captured, .. } => captured.iter_mut().for_each(visit),
            HeapEntry::Cell(value) => visit(value),
            HeapEntry::List(values) => values.iter_mut().for_each(visit),
            HeapEntry::Future(future) => match &mut future.state {
                FutureState::Unresolved {
                    stored,
                    subscribers,
                } => {
                    stored
                        .iter_mut()
                        .chain(subscribers)
                        .for_each(|message| message.visit(visit));
                }
                FutureState::Resolved(value) | FutureState::Ruined(value) => visit(value),
            },
            HeapEntry::Resolver(_) => {}
        }
    }
}

impl Message {
    pub(crate) fn visit(&mut self, visit: &mut impl FnMut(&mut Value)) {
        visit(&mut self.receiver);
        self.args
            .iter_mut()
            .chain(&mut self.resolver)
            .for_each(visit);
    }
}

impl Turn {
    pub(crate) fn visit(&mut self, visit: &mut impl FnMut(&mut Value)) {
        for frame in &mut self.frames {
            match frame {
                Frame::Code { locals, stack, .. } => {
                    locals.iter_mut().chain(stack).for_each(&mut *visit)
                }
                Frame::Sends(messages) => {
                    messages.iter_mut().for_each(|message| message.visit(visit))
                }
            }
        }
        self.resolver.iter_mut().for_each(visit);
    }
}
