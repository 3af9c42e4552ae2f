//! The rules that involve two actors.

use std::collections::HashMap;

use super::{
    actor::{Actor, Frame, HeapEntry, Message, MessageKind, Turn, TurnCause},
    code::{ClassId, ClassKind, Code, Instruction},
    machine::{Machine, Rule},
    tables::{ActorId, Actors, Texts},
    value::{Far, FarKind, HeapId, Value},
};

/// Removes from `sender` the message that it is about to send.
fn take_message(code: &Code, texts: &Texts, sender: &mut Actor) -> Message {
    let me = sender.id;
    let turn = sender.turn.as_mut().expect("it is about to send");
    if let Some(Frame::Sends(messages)) = turn.frames.last_mut() {
        let mut message = messages.pop_front().expect("it is about to send");
        message.is_marked |= std::mem::take(&mut turn.marks_next);
        return message;
    }
    let is_marked = std::mem::take(&mut turn.marks_next);
    let mut machine = Machine::new(code, texts, sender);
    let site = machine.site();
    let instruction = machine.instruction().expect("it is about to send");
    machine.go_on();
    let (kind, selector, args, future) = match instruction {
        Instruction::Send {
            selector,
            args,
            is_two_way,
        } => {
            let future = is_two_way.then(|| machine.pop_many(2));
            (MessageKind::Plain, selector, machine.pop_many(args), future)
        }
        Instruction::Register => {
            let future = Some(machine.pop_many(2));
            (
                MessageKind::Register,
                code.names.when,
                machine.pop_many(2),
                future,
            )
        }
        other => unreachable!("{other:?} sends nothing"),
    };
    let receiver = machine.pop();
    let (value, resolver) = match future.as_deref() {
        Some(&[future, resolver]) => (future, Some(resolver)),
        _ => (Value::Null, None),
    };
    machine.push(value);
    Message {
        kind,
        receiver,
        selector,
        args,
        resolver,
        sender: me,
        site,
        is_marked,
    }
}

/// local-async-send: the receiver is in the same actor.
pub(crate) fn send_to_itself(code: &Code, texts: &Texts, actor: &mut Actor) -> Rule {
    let message = take_message(code, texts, actor);
    actor.inbox.push_back(message);
    Rule::LocalAsyncSend
}

/// far-async-send: parameters are passed, and the message is appended to the receiver's inbox.
pub(crate) fn send(code: &Code, texts: &Texts, sender: &mut Actor, receiver: &mut Actor) -> Rule {
    let mut message = take_message(code, texts, sender);
    let mut passing = ValueCopier {
        code,
        from: sender,
        to: receiver,
        copies: HashMap::new(),
    };
    message.visit(&mut |value| *value = passing.pass(*value));
    receiver.inbox.push_back(message);
    Rule::FarAsyncSend
}

/// new-actor: creates an actor with a behaviour, which initialises its fields next.
pub(crate) fn create(code: &Code, texts: &Texts, actors: &Actors, creator: &mut Actor) -> Actor {
    let mut machine = Machine::new(code, texts, creator);
    let Some(Instruction::Actor { class, params }) = machine.instruction() else {
        unreachable!("it is about to create an actor")
    };
    machine.go_on();
    let params = machine.pop_many(params);
    let id = actors.child(creator.id, creator.children);
    creator.children += 1;
    let mut created = Actor::with_behaviour(id, code, class);
    let mut passing = ValueCopier {
        code,
        from: creator,
        to: &mut created,
        copies: HashMap::new(),
    };
    let params: Vec<Value> = params
        .into_iter()
        .map(|value| passing.pass(value))
        .collect();
    created.begin(code, class, &params);
    Machine::new(code, texts, creator).push(Value::Far(Far {
        actor: id,
        slot: 0,
        kind: FarKind::Object,
    }));
    created
}

impl Actor {
    /// Creates an actor with a behaviour, which has done nothing yet.
    pub(crate) fn with_behaviour(id: ActorId, code: &Code, class: ClassId) -> Actor {
        let mut actor = Actor::new(id);
        let fields = vec![Value::Null; code.class(class).fields.len()];
        actor.alloc(HeapEntry::Object { class, fields });
        actor.exports.push(HeapId(0));
        actor
    }

    /// Begins the first turn of the actor, which initialises its fields.
    pub(crate) fn begin(&mut self, code: &Code, class: ClassId, params: &[Value]) {
        let init = code.class(class).init;
        let mut locals = vec![Value::Near(self.exports[0])];
        locals.extend(params);
        locals.resize(code.body(init).locals as usize, Value::Null);
        self.turn = Some(Turn {
            cause: TurnCause::Creation,
            frames: vec![Frame::Code {
                code: init,
                pc: 0,
                locals,
                stack: Vec::new(),
                handlers: Vec::new(),
            }],
            resolver: None,
            marks_next: false,
        });
    }
}

/// Passes values from one actor to another.
struct ValueCopier<'a> {
    code: &'a Code,
    from: &'a mut Actor,
    to: &'a mut Actor,
    /// The copies of isolates: each is copied once, so that sharing between them is preserved.
    copies: HashMap<HeapId, HeapId>,
}

impl ValueCopier<'_> {
    fn pass(&mut self, value: Value) -> Value {
        match value {
            Value::Near(id) if self.is_isolate(id) => Value::Near(self.copy(id)),
            Value::Near(id) => Value::Far(self.from.export(id)),
            Value::Far(far) if far.actor == self.to.id => {
                Value::Near(self.to.exports[far.slot as usize])
            }
            other => other,
        }
    }

    fn is_isolate(&self, id: HeapId) -> bool {
        match self.from.get(id) {
            HeapEntry::Object { class, .. } => self.code.class(*class).kind == ClassKind::Isolate,
            HeapEntry::List(_) => true,
            _ => false,
        }
    }

    /// Copies an isolate deeply. Iterative, because lists can be very long.
    fn copy(&mut self, id: HeapId) -> HeapId {
        if let Some(&copy) = self.copies.get(&id) {
            return copy;
        }
        let mut todo = vec![(id, self.begin_copy(id))];
        while let Some((original, copy)) = todo.pop() {
            let mut entry = self.from.get(original).clone();
            entry.visit(&mut |value| {
                *value = match *value {
                    Value::Near(id) if self.is_isolate(id) => {
                        Value::Near(match self.copies.get(&id) {
                            Some(&copy) => copy,
                            None => {
                                let copy = self.begin_copy(id);
                                todo.push((id, copy));
                                copy
                            }
                        })
                    }
                    other => self.pass(other),
                }
            });
            *self.to.get_mut(copy) = entry;
        }
        self.copies[&id]
    }

    fn begin_copy(&mut self, id: HeapId) -> HeapId {
        let Value::Near(copy) = self.to.alloc(HeapEntry::Cell(Value::Null)) else {
            unreachable!("what is allocated is near")
        };
        self.copies.insert(id, copy);
        copy
    }
}
