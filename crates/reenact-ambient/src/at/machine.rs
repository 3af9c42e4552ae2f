//! The rules that involve one actor.
//!
//! An actor runs until its next action is visible to others: a send, the creation of an actor, or the resolution of a
//! future (which affects subscribers, and is where users want to stop). That is a macro-step. It never crosses one of
//! these actions, not even a message to the actor itself, because another actor's message may arrive first.
//!
//! The names of rules are those of the calculus.

mod builtin;
mod future;
mod instruction;
mod object;

pub(crate) use self::builtin::plain_name;

use std::collections::VecDeque;

use reenact_multiverse::StepSize;

use super::{
    actor::{Actor, Frame, HeapEntry, Message, MessageKind, Turn, TurnCause},
    code::{Code, Instruction, SiteId},
    tables::{ActorId, Texts},
    value::Value,
};

/// A rule of the calculus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are the documentation.
pub enum Rule {
    Let,
    NewObject,
    NewIsolate,
    Invoke,
    FieldAccess,
    FieldUpdate,
    MakeFuture,
    LocalAsyncSend,
    ProcessMessage,
    ProcessMessageToFuture,
    Resolve,
    NewActor,
    FarAsyncSend,
}

/// The next action of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// It waits for a message.
    Nothing,
    /// It begins a turn with the first message of its inbox.
    Process,
    /// It continues its turn.
    Continue,
    Send(ActorId),
    Create,
    /// It resolves or ruins a future of its own.
    Resolve,
}

/// Maximum number of instructions of an actor in one step; instructions on long lists and texts count more. A longer
/// loop is cut into several steps; if it changes nothing, it then leads back to the same state, which a search detects.
const FUEL: u32 = 20_000;

/// The number of elements that count as one instruction.
const ELEMENTS: usize = 16;

/// Maximum nesting depth of calls, and maximum length of texts and lists.
const MAX_FRAMES: usize = 2_000;
const MAX_LENGTH: usize = 100_000;

/// An error of the program: the value that is raised.
pub(crate) struct Raised(pub(crate) Value);

type Evaluated<T = ()> = Result<T, Raised>;

/// An actor that executes.
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a Code,
    pub(crate) texts: &'a Texts,
    pub(crate) actor: &'a mut Actor,
    /// How many more instructions it may execute in this step.
    fuel: u32,
}

/// Where an actor stops in addition to visible actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops {
    pub(crate) step_size: StepSize,
    pub(crate) lines: Vec<u32>,
}

/// Returns the next action of an actor.
pub(crate) fn next(code: &Code, actor: &Actor) -> NextAction {
    let Some(turn) = &actor.turn else {
        return match actor.inbox.is_empty() {
            true => NextAction::Nothing,
            false => NextAction::Process,
        };
    };
    let to = |receiver: Value| match receiver {
        Value::Far(far) => NextAction::Send(far.actor),
        _ => NextAction::Send(actor.id),
    };
    let is_own_resolver = |value| matches!(actor.entry(value), Some(HeapEntry::Resolver(_)));
    match turn.frames.last() {
        Some(Frame::Sends(messages)) => match messages.front() {
            Some(message) if message.is_resolution() && is_own_resolver(message.receiver) => {
                NextAction::Resolve
            }
            Some(message) => to(message.receiver),
            None => NextAction::Continue,
        },
        Some(Frame::Code {
            code: id,
            pc,
            stack,
            ..
        }) => {
            let instruction = code.body(*id).instructions[*pc as usize];
            if let Some((receiver, _)) = instruction.sent(stack) {
                return to(receiver);
            }
            match instruction {
                Instruction::Actor { .. } => NextAction::Create,
                Instruction::Invoke(name, 1)
                    if (name == code.names.resolve || name == code.names.ruin)
                        && is_own_resolver(stack[stack.len() - 2]) =>
                {
                    NextAction::Resolve
                }
                _ => NextAction::Continue,
            }
        }
        None => NextAction::Continue,
    }
}

/// The mutable parts of a code frame: program counter, locals, stack, handlers.
type FrameParts<'a> = (
    &'a mut u32,
    &'a mut Vec<Value>,
    &'a mut Vec<Value>,
    &'a mut Vec<(u32, u32)>,
);

impl<'a> Machine<'a> {
    /// Prepares an actor for a step.
    pub(crate) fn new(code: &'a Code, texts: &'a Texts, actor: &'a mut Actor) -> Machine<'a> {
        Machine {
            code,
            texts,
            actor,
            fuel: FUEL,
        }
    }
}

impl Machine<'_> {
    /// Takes the actor's next step, which must not involve other actors. Returns the first rule that it applied.
    pub(crate) fn step(&mut self, stops: &Stops) -> Option<Rule> {
        let rule = match next(self.code, self.actor) {
            NextAction::Process => Some(self.process()),
            NextAction::Resolve => Some(self.resolve_next()),
            NextAction::Continue => return self.run(stops, true),
            NextAction::Nothing | NextAction::Send(_) | NextAction::Create => {
                unreachable!("the actor cannot do this alone")
            }
        };
        if stops.step_size == StepSize::Macro {
            self.run(stops, false);
        }
        rule
    }

    /// Runs up to the next action that is visible to others. Returns the first rule that was applied.
    pub(crate) fn run(&mut self, stops: &Stops, mut is_begin: bool) -> Option<Rule> {
        let mut first = None;
        while self.fuel > 0 {
            if self.actor.turn.is_none() || next(self.code, self.actor) != NextAction::Continue {
                break;
            }
            if let Some(Instruction::Line(line)) = self.instruction()
                && !is_begin
                && stops.lines.contains(&line)
            {
                break;
            }
            is_begin = false;
            self.fuel -= 1;
            let rule = self.advance();
            first = first.or(rule);
            if stops.step_size == StepSize::Rule && rule.is_some() {
                break;
            }
        }
        first
    }

    fn turn(&mut self) -> &mut Turn {
        self.actor.turn.as_mut().expect("it is in a turn")
    }

    pub(crate) fn instruction(&self) -> Option<Instruction> {
        match self.actor.turn.as_ref()?.frames.last()? {
            Frame::Code { code, pc, .. } => Some(self.code.body(*code).instructions[*pc as usize]),
            Frame::Sends(_) => None,
        }
    }

    /// Executes one instruction, or ends the turn.
    fn advance(&mut self) -> Option<Rule> {
        match self.turn().frames.last() {
            None => {
                self.actor.turn = None;
                None
            }
            Some(Frame::Sends(_)) => {
                // All messages have been sent.
                self.turn().frames.pop();
                None
            }
            Some(Frame::Code { .. }) => {
                let instruction = self.instruction().expect("code runs");
                let site = self.site();
                match self.execute(instruction, site) {
                    Ok(rule) => rule,
                    Err(raised) => {
                        self.unwind(raised);
                        None
                    }
                }
            }
        }
    }

    /// Returns the source position of the next instruction.
    pub(crate) fn site(&self) -> SiteId {
        match self.actor.turn.as_ref().and_then(|turn| turn.frames.last()) {
            Some(Frame::Code { code, pc, .. }) => self.code.body(*code).sites[*pc as usize],
            _ => super::code::NOWHERE,
        }
    }

    fn frame(&mut self) -> FrameParts<'_> {
        match self.turn().frames.last_mut() {
            Some(Frame::Code {
                pc,
                locals,
                stack,
                handlers,
                ..
            }) => (pc, locals, stack, handlers),
            _ => unreachable!("code runs"),
        }
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.frame().2.push(value);
    }

    pub(crate) fn pop(&mut self) -> Value {
        self.frame()
            .2
            .pop()
            .expect("the compiler pushes what is popped")
    }

    /// Pops the last `count` values, and returns them in order.
    pub(crate) fn pop_many(&mut self, count: u32) -> Vec<Value> {
        let stack = self.frame().2;
        stack.split_off(stack.len() - count as usize)
    }

    pub(crate) fn go_on(&mut self) {
        *self.frame().0 += 1;
    }

    /// Returns a result to the caller, or ends the turn with it.
    pub(crate) fn result(&mut self, value: Value) {
        match self.turn().frames.last() {
            Some(Frame::Code { .. }) => self.push(value),
            Some(Frame::Sends(_)) => unreachable!("nothing is called while messages are sent"),
            None => self.settle(MessageKind::Resolve, value),
        }
    }

    /// Ends the turn, except for resolving or ruining its future.
    fn settle(&mut self, kind: MessageKind, value: Value) {
        let turn = self.turn();
        let is_marked = turn.cause.is_marked();
        let resolver = turn.resolver.take();
        if let Some(resolver) = resolver {
            let message =
                Message::resolution(kind, resolver, value, self.code, self.actor.id, is_marked);
            self.turn()
                .frames
                .push(Frame::Sends(VecDeque::from([message])));
        } else if kind == MessageKind::Ruin {
            let text = self.show(value);
            let text = self.texts.id(&text);
            self.actor.errors.push(text);
        }
    }

    /// Continues at the nearest handler for the error, or ends the turn.
    fn unwind(&mut self, Raised(error): Raised) {
        while let Some(frame) = self.turn().frames.last_mut() {
            if let Frame::Code {
                pc,
                stack,
                handlers,
                ..
            } = frame
                && let Some((to, height)) = handlers.pop()
            {
                *pc = to;
                stack.truncate(height as usize);
                stack.push(error);
                return;
            }
            self.turn().frames.pop();
        }
        self.settle(MessageKind::Ruin, error);
    }

    /// Reduces the fuel by the work on this many elements.
    fn charge(&mut self, elements: usize) {
        self.fuel = self.fuel.saturating_sub((elements / ELEMENTS) as u32);
    }

    /// Creates an error that the machine raises.
    pub(crate) fn error(&self, site: SiteId, text: &str) -> Raised {
        let text = match self.code.site(site) {
            Some(site) => format!("line {}: {text}", site.line),
            None => text.to_owned(),
        };
        Raised(Value::Text(self.texts.id(&text)))
    }
}

impl TurnCause {
    pub(crate) fn is_marked(self) -> bool {
        matches!(
            self,
            TurnCause::Message {
                is_marked: true,
                ..
            }
        )
    }
}
