//! The rules of one actor.
//!
//! An actor runs by itself until what it does next concerns somebody else: a send, the creation of an actor, or the
//! resolution of a future (which concerns those who wait, and is where people want to stop). That is a macro-step. It
//! never crosses one of these, not even a message to itself, because another actor's message may come in between.
//!
//! The names of rules are those of the calculus.

mod builtin;
mod future;

pub(crate) use self::builtin::plain_name;

use std::collections::VecDeque;

use super::{
    actor::{Actor, Cause, Entity, Frame, Message, MessageKind, Turn},
    code::{ClassId, ClassKind, Code, CodeId, Instruction, SelectorId, SiteId},
    tables::{ActorId, Texts},
    value::{HeapId, Value},
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

/// How far an actor goes in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// One rule.
    Single,
    /// Up to, and not across, what concerns others.
    #[default]
    Macro,
}

/// What an actor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits for a message.
    Nothing,
    /// It begins a turn with the first message of its inbox.
    Process,
    /// It goes on.
    Continue,
    Send(ActorId),
    Create,
    /// It resolves or ruins a future of its own.
    Resolve,
}

/// How many instructions an actor executes at most in one step. A loop that is longer is cut into several; one that
/// changes nothing then leads back to the same state, which a search can see.
const FUEL: u32 = 20_000;

/// How deep calls may be nested, how long texts and lists may become.
const MAX_FRAMES: usize = 2_000;
const MAX_LENGTH: usize = 100_000;

/// An error of the program: the value that is raised.
pub(crate) struct Raised(pub(crate) Value);

type Result<T = ()> = std::result::Result<T, Raised>;

/// An actor that executes.
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a Code,
    pub(crate) texts: &'a Texts,
    pub(crate) actor: &'a mut Actor,
}

/// Where an actor stops beside where it has to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops {
    pub(crate) granularity: Granularity,
    pub(crate) lines: Vec<u32>,
}

/// What an actor does next.
pub(crate) fn next(code: &Code, actor: &Actor) -> Next {
    let Some(turn) = &actor.turn else {
        return match actor.inbox.is_empty() {
            true => Next::Nothing,
            false => Next::Process,
        };
    };
    let to = |receiver: Value| match receiver {
        Value::Far(far) => Next::Send(far.actor),
        _ => Next::Send(actor.id),
    };
    let is_own_resolver = |value| matches!(actor.entity(value), Some(Entity::Resolver(_)));
    match turn.frames.last() {
        Some(Frame::Sends(messages)) => match messages.front() {
            Some(message) if message.is_resolution() && is_own_resolver(message.receiver) => {
                Next::Resolve
            }
            Some(message) => to(message.receiver),
            None => Next::Continue,
        },
        Some(Frame::Code {
            code: id,
            pc,
            stack,
            ..
        }) => {
            let operand = |below: usize| stack[stack.len() - 1 - below];
            match code.body(*id).instructions[*pc as usize] {
                Instruction::Send {
                    args, is_two_way, ..
                } => to(operand(args as usize + 2 * usize::from(is_two_way))),
                Instruction::Register => to(operand(4)),
                Instruction::Actor { .. } => Next::Create,
                Instruction::Invoke(name, 1)
                    if (name == code.names.resolve || name == code.names.ruin)
                        && is_own_resolver(operand(1)) =>
                {
                    Next::Resolve
                }
                _ => Next::Continue,
            }
        }
        None => Next::Continue,
    }
}

/// What changes in a frame of code: the place, the locals, the stack, the handlers.
type FrameParts<'a> = (
    &'a mut u32,
    &'a mut Vec<Value>,
    &'a mut Vec<Value>,
    &'a mut Vec<(u32, u32)>,
);

impl Machine<'_> {
    /// Takes the actor's next step, which concerns nobody else. Returns the first rule that it applied.
    pub(crate) fn step(&mut self, stops: &Stops) -> Option<Rule> {
        let rule = match next(self.code, self.actor) {
            Next::Process => Some(self.process()),
            Next::Resolve => Some(self.resolve_next()),
            Next::Continue => return self.run(stops, true),
            Next::Nothing | Next::Send(_) | Next::Create => {
                unreachable!("the actor cannot do this alone")
            }
        };
        if stops.granularity == Granularity::Macro {
            self.run(stops, false);
        }
        rule
    }

    /// Goes on for as long as it concerns nobody else. Returns the first rule that is applied.
    pub(crate) fn run(&mut self, stops: &Stops, mut is_begin: bool) -> Option<Rule> {
        let mut first = None;
        for _ in 0..FUEL {
            if self.actor.turn.is_none() || next(self.code, self.actor) != Next::Continue {
                break;
            }
            if let Some(Instruction::Line(line)) = self.instruction()
                && !is_begin
                && stops.lines.contains(&line)
            {
                break;
            }
            is_begin = false;
            let rule = self.advance();
            first = first.or(rule);
            if stops.granularity == Granularity::Single && rule.is_some() {
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

    /// One instruction, or the end of the turn.
    fn advance(&mut self) -> Option<Rule> {
        match self.turn().frames.last() {
            None => {
                self.actor.turn = None;
                None
            }
            Some(Frame::Sends(_)) => {
                // They are all sent.
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

    /// The place of the instruction that is next.
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

    /// The last `count` values, in their order.
    pub(crate) fn pop_many(&mut self, count: u32) -> Vec<Value> {
        let stack = self.frame().2;
        stack.split_off(stack.len() - count as usize)
    }

    pub(crate) fn go_on(&mut self) {
        *self.frame().0 += 1;
    }

    fn execute(&mut self, instruction: Instruction, site: SiteId) -> Result<Option<Rule>> {
        self.go_on();
        Ok(match instruction {
            Instruction::Line(_) => None,
            Instruction::Push(value) => {
                self.push(value);
                None
            }
            Instruction::Pop => {
                self.pop();
                None
            }
            Instruction::Dup => {
                let value = self.pop();
                self.push(value);
                self.push(value);
                None
            }
            Instruction::Local(local) => {
                let value = self.frame().1[local as usize];
                self.push(value);
                None
            }
            Instruction::SetLocal(local) => {
                let value = self.pop();
                self.frame().1[local as usize] = value;
                Some(Rule::Let)
            }
            Instruction::Box(local) => {
                let value = self.frame().1[local as usize];
                let cell = self.actor.alloc(Entity::Cell(value));
                self.frame().1[local as usize] = cell;
                None
            }
            Instruction::Unbox => {
                let cell = self.pop();
                let Some(&Entity::Cell(value)) = self.actor.entity(cell) else {
                    unreachable!("the compiler knows what is in a cell")
                };
                self.push(value);
                None
            }
            Instruction::SetBox => {
                let value = self.pop();
                let Value::Near(cell) = self.pop() else {
                    unreachable!("cells are near")
                };
                *self.actor.get_mut(cell) = Entity::Cell(value);
                self.push(value);
                Some(Rule::Let)
            }
            Instruction::Slot(slot) => {
                let object = self.pop();
                let Some(Entity::Object { fields, .. }) = self.actor.entity(object) else {
                    unreachable!("the compiler knows where `this` has slots")
                };
                let value = fields[slot as usize];
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetSlot(slot) => {
                let value = self.pop();
                let object = self.pop();
                self.fields(object)[slot as usize] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Field(name) => {
                let object = self.pop();
                let value = self.field(object, name, site)?;
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetField(name) => {
                let value = self.pop();
                let object = self.pop();
                let slot = self.slot(object, name, site)?;
                self.fields(object)[slot] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Jump(to) => {
                *self.frame().0 = to;
                None
            }
            Instruction::JumpUnless(to) => {
                match self.pop() {
                    Value::Bool(true) => {}
                    Value::Bool(false) => *self.frame().0 = to,
                    other => {
                        let text = self.show(other);
                        return Err(self.error(
                            site,
                            &format!("a condition is true or false, and this is {text}"),
                        ));
                    }
                }
                None
            }
            Instruction::List(count) => {
                let values = self.pop_many(count);
                let list = self.actor.alloc(Entity::List(values));
                self.push(list);
                Some(Rule::NewIsolate)
            }
            Instruction::Index => {
                let index = self.pop();
                let list = self.pop();
                let (id, at) = self.element(list, index, site)?;
                let Entity::List(values) = self.actor.get(id) else {
                    unreachable!("it is a list")
                };
                let value = values[at];
                self.push(value);
                Some(Rule::FieldAccess)
            }
            Instruction::SetIndex => {
                let value = self.pop();
                let index = self.pop();
                let list = self.pop();
                let (id, at) = self.element(list, index, site)?;
                let Entity::List(values) = self.actor.get_mut(id) else {
                    unreachable!("it is a list")
                };
                values[at] = value;
                self.push(value);
                Some(Rule::FieldUpdate)
            }
            Instruction::Unpack(count) => {
                let list = self.pop();
                match self.actor.entity(list) {
                    Some(Entity::List(values)) if values.len() == count as usize => {
                        let values: Vec<Value> = values.iter().rev().copied().collect();
                        self.frame().2.extend(values);
                    }
                    _ => {
                        let text = self.show(list);
                        return Err(self.error(
                            site,
                            &format!("a list of {count} is needed here, not {text}"),
                        ));
                    }
                }
                None
            }
            Instruction::Invoke(name, count) => {
                let args = self.pop_many(count);
                let receiver = self.pop();
                self.invoke(receiver, name, args, site)?;
                Some(Rule::Invoke)
            }
            Instruction::Apply(count) => {
                let args = self.pop_many(count);
                let block = self.pop();
                self.apply(block, args, site)?;
                Some(Rule::Invoke)
            }
            Instruction::Block(code, captured) => {
                let captured = self.pop_many(captured + 1);
                let block = self.actor.alloc(Entity::Block { code, captured });
                self.push(block);
                Some(Rule::NewObject)
            }
            Instruction::Object {
                class,
                captured,
                params,
            } => {
                let params = self.pop_many(params);
                let captured = self.pop_many(captured);
                let kind = self.code.class(class).kind;
                self.new_object(class, captured, params, site)?;
                Some(match kind {
                    ClassKind::Isolate => Rule::NewIsolate,
                    ClassKind::Object | ClassKind::Actor => Rule::NewObject,
                })
            }
            Instruction::MakeFuture => {
                let (future, resolver) = self.make_future(site);
                self.push(future);
                self.push(resolver);
                Some(Rule::MakeFuture)
            }
            Instruction::Catch(to) => {
                let (_, _, stack, handlers) = self.frame();
                handlers.push((to, stack.len() as u32));
                None
            }
            Instruction::EndCatch => {
                self.frame().3.pop();
                None
            }
            Instruction::Raise => {
                let error = self.pop();
                return Err(Raised(error));
            }
            Instruction::Return => {
                let value = self.pop();
                self.turn().frames.pop();
                self.result(value);
                None
            }
            Instruction::Send { .. } | Instruction::Register | Instruction::Actor { .. } => {
                unreachable!("a step ends before what concerns others")
            }
        })
    }

    /// Gives a result to whoever called, or ends the turn with it.
    pub(crate) fn result(&mut self, value: Value) {
        match self.turn().frames.last() {
            Some(Frame::Code { .. }) => self.push(value),
            Some(Frame::Sends(_)) => unreachable!("nothing is called while messages are sent"),
            None => self.settle(MessageKind::Resolve, value),
        }
    }

    /// The turn is over but for its future.
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

    /// An error goes to the nearest handler, or ends the turn.
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

    fn call(
        &mut self,
        code: CodeId,
        this: Value,
        args: Vec<Value>,
        captured: &[Value],
        site: SiteId,
    ) -> Result {
        let body = self.code.body(code);
        if body.params as usize != args.len() {
            let text = format!(
                "`{}` takes {} and was given {}",
                body.name,
                counted(body.params as usize),
                args.len()
            );
            return Err(self.error(site, &text));
        }
        if self.turn().frames.len() >= MAX_FRAMES {
            return Err(self.error(site, &format!("calls are nested deeper than {MAX_FRAMES}")));
        }
        let mut locals = Vec::with_capacity(body.locals as usize);
        locals.push(this);
        locals.extend(args);
        locals.resize(body.locals as usize, Value::Null);
        for (&local, &value) in body.captured.iter().zip(captured) {
            locals[local as usize] = value;
        }
        let frame = Frame::Code {
            code,
            pc: 0,
            locals,
            stack: Vec::new(),
            handlers: Vec::new(),
        };
        self.turn().frames.push(frame);
        Ok(())
    }

    fn new_object(
        &mut self,
        class: ClassId,
        captured: Vec<Value>,
        params: Vec<Value>,
        site: SiteId,
    ) -> Result {
        let description = self.code.class(class);
        let mut fields = vec![Value::Null; description.fields.len()];
        fields.extend(captured);
        let object = self.actor.alloc(Entity::Object { class, fields });
        self.call(description.init, object, params, &[], site)
    }

    pub(crate) fn invoke(
        &mut self,
        receiver: Value,
        name: SelectorId,
        args: Vec<Value>,
        site: SiteId,
    ) -> Result {
        let class = match self.actor.entity(receiver) {
            Some(&Entity::Object { class, .. }) => class,
            Some(Entity::Block { .. }) if name == self.code.names.apply => {
                return self.apply(receiver, args, site);
            }
            _ => {
                if let Some(value) =
                    self.builtin(receiver, self.code.selector(name), &args, site)?
                {
                    self.result(value);
                    return Ok(());
                }
                let Some(class) = self.library_class(receiver) else {
                    return Err(self.no_method(receiver, name, site));
                };
                class
            }
        };
        if let Some(&code) = self.code.class(class).methods.get(&name) {
            return self.call(code, receiver, args, &[], site);
        }
        if let Some(value) = self.builtin(receiver, self.code.selector(name), &args, site)? {
            self.result(value);
            return Ok(());
        }
        // A block in a field can be called like a method.
        match self.slot(receiver, name, site) {
            Ok(slot) => {
                let block = self.fields(receiver)[slot];
                self.apply(block, args, site)
            }
            Err(_) => Err(self.no_method(receiver, name, site)),
        }
    }

    fn apply(&mut self, block: Value, mut args: Vec<Value>, site: SiteId) -> Result {
        let Some(Entity::Block { code, captured }) = self.actor.entity(block) else {
            let text = self.show(block);
            return Err(self.error(
                site,
                &format!("only a block can be called, and this is {text}"),
            ));
        };
        let (code, captured) = (*code, captured.clone());
        if self.code.body(code).params == 0 {
            // A block that is not interested need not say so.
            args.clear();
        }
        self.call(code, captured[0], args, &captured[1..], site)
    }

    fn fields(&mut self, object: Value) -> &mut Vec<Value> {
        match object {
            Value::Near(id) => match self.actor.get_mut(id) {
                Entity::Object { fields, .. } => fields,
                other => unreachable!("{other:?} has no fields"),
            },
            other => unreachable!("{other:?} has no fields"),
        }
    }

    fn field(&mut self, object: Value, name: SelectorId, site: SiteId) -> Result<Value> {
        let slot = self.slot(object, name, site)?;
        Ok(self.fields(object)[slot])
    }

    fn slot(&mut self, object: Value, name: SelectorId, site: SiteId) -> Result<usize> {
        let text = self.code.selector(name);
        let found = match self.actor.entity(object) {
            Some(Entity::Object { class, .. }) => self
                .code
                .class(*class)
                .fields
                .iter()
                .position(|field| field == text),
            _ => None,
        };
        found.ok_or_else(|| match object {
            Value::Far(_) => self.error(
                site,
                &format!("`{text}` belongs to another actor; only `<-` reaches it"),
            ),
            _ => {
                let what = self.show(object);
                self.error(site, &format!("{what} has no field `{text}`"))
            }
        })
    }

    fn element(&mut self, list: Value, index: Value, site: SiteId) -> Result<(HeapId, usize)> {
        if let Value::Near(id) = list
            && let Entity::List(values) = self.actor.get(id)
        {
            return match index {
                Value::Int(at) if at >= 1 && at as usize <= values.len() => {
                    Ok((id, at as usize - 1))
                }
                _ => {
                    let (length, text) = (values.len(), self.show(index));
                    Err(self.error(
                        site,
                        &format!("{text} is not within a list of {length}, which begins at 1"),
                    ))
                }
            };
        }
        let text = self.show(list);
        Err(self.error(
            site,
            &format!("only lists have elements, and this is {text}"),
        ))
    }

    fn no_method(&self, receiver: Value, name: SelectorId, site: SiteId) -> Raised {
        let name = self.code.selector(name);
        let text = match (receiver, self.actor.entity(receiver)) {
            (Value::Far(_), _) => format!("`{name}` is of another actor; only `<-` reaches it"),
            (_, Some(Entity::Future(_))) => {
                format!("a future has no method `{name}`; use `<-` or `when:becomes:`")
            }
            _ => format!("{} has no method `{name}`", self.show(receiver)),
        };
        self.error(site, &text)
    }

    /// An error of which the machine is the author.
    pub(crate) fn error(&self, site: SiteId, text: &str) -> Raised {
        let text = match self.code.site(site) {
            Some(site) => format!("line {}: {text}", site.line),
            None => text.to_owned(),
        };
        Raised(Value::Text(self.texts.id(&text)))
    }
}

fn counted(params: usize) -> String {
    match params {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

impl Cause {
    pub(crate) fn is_marked(self) -> bool {
        matches!(
            self,
            Cause::Message {
                is_marked: true,
                ..
            }
        )
    }
}
