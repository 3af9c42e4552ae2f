//! The rules for incoming messages and futures.

use std::collections::VecDeque;

use super::{Machine, Rule};
use crate::at::{
    actor::{Frame, Future, FutureState, HeapEntry, Message, MessageKind, Turn, TurnCause},
    code::{Code, Instruction, NOWHERE, SiteId},
    tables::ActorId,
    value::{HeapId, Value},
};

/// The result of a future.
#[derive(Clone, Copy)]
enum Resolution {
    Value(Value),
    Error(Value),
}

impl Resolution {
    fn new(is_error: bool, value: Value) -> Resolution {
        match is_error {
            true => Resolution::Error(value),
            false => Resolution::Value(value),
        }
    }
}

impl Message {
    /// Creates the message that resolves or ruins the future of `resolver`.
    pub(crate) fn resolution(
        kind: MessageKind,
        resolver: Value,
        value: Value,
        code: &Code,
        sender: ActorId,
        is_marked: bool,
    ) -> Message {
        Message {
            kind,
            receiver: resolver,
            selector: match kind {
                MessageKind::Ruin => code.names.ruin,
                _ => code.names.resolve,
            },
            args: vec![value],
            resolver: None,
            sender,
            site: NOWHERE,
            is_marked,
        }
    }

    pub(crate) fn is_resolution(&self) -> bool {
        matches!(self.kind, MessageKind::Resolve | MessageKind::Ruin)
    }
}

impl Machine<'_> {
    pub(super) fn make_future(&mut self, site: SiteId) -> (Value, Value) {
        let state = FutureState::Unresolved {
            stored: Vec::new(),
            subscribers: Vec::new(),
        };
        let future = self.actor.alloc(HeapEntry::Future(Future {
            state,
            site,
            is_marked: false,
        }));
        let Value::Near(id) = future else {
            unreachable!("what is allocated is near")
        };
        let resolver = self.actor.alloc(HeapEntry::Resolver(id));
        (future, resolver)
    }

    /// Begins the turn of the first message in the inbox.
    pub(super) fn process(&mut self) -> Rule {
        let message = self.actor.inbox.pop_front().expect("there is a message");
        self.actor.turn = Some(Turn {
            cause: TurnCause::Message {
                kind: message.kind,
                selector: message.selector,
                site: message.site,
                sender: message.sender,
                is_marked: message.is_marked,
            },
            frames: Vec::new(),
            resolver: None,
            marks_next: false,
        });
        let near = match message.receiver {
            Value::Near(id) => Some((id, self.actor.get(id))),
            _ => None,
        };
        match near {
            // process-message-to-future
            Some((id, HeapEntry::Future(_))) => {
                self.process_at_future(id, message);
                Rule::ProcessMessageToFuture
            }
            // process-message, at a resolver
            Some((_, &HeapEntry::Resolver(future))) if self.resolves(&message) => {
                let fate =
                    Resolution::new(message.selector == self.code.names.ruin, message.args[0]);
                self.resolve(message.receiver, future, fate, message.is_marked);
                if let Some(resolver) = message.resolver {
                    self.turn().resolver = Some(resolver);
                    self.answer_below();
                }
                Rule::ProcessMessage
            }
            // process-message, a register message
            _ if message.kind == MessageKind::Register => {
                let receiver = message.receiver;
                let outcome = self.outcome(message, Resolution::Value(receiver), false);
                self.send_all(outcome);
                Rule::ProcessMessage
            }
            // process-message
            _ => {
                self.turn().resolver = message.resolver;
                if let Err(raised) = self.invoke(
                    message.receiver,
                    message.selector,
                    message.args,
                    message.site,
                ) {
                    self.unwind(raised);
                }
                Rule::ProcessMessage
            }
        }
    }

    /// Whether a message to a resolver is one that it understands.
    fn resolves(&self, message: &Message) -> bool {
        let names = &self.code.names;
        (message.selector == names.resolve || message.selector == names.ruin)
            && message.args.len() == 1
    }

    /// Answers a two-way `resolve`, after all other messages of the resolution.
    fn answer_below(&mut self) {
        let sends = self.turn().frames.pop();
        self.result(Value::Null);
        self.turn().frames.extend(sends);
    }

    fn process_at_future(&mut self, id: HeapId, message: Message) {
        let future = self.actor.future_mut(id);
        let is_marked = future.is_marked && message.kind == MessageKind::Register;
        let fate = match &mut future.state {
            FutureState::Unresolved {
                stored,
                subscribers,
            } => {
                let is_first = stored.is_empty() && subscribers.is_empty();
                match message.kind {
                    MessageKind::Register => subscribers.push(message),
                    _ => stored.push(message),
                }
                if is_first {
                    self.actor.waiting.push(id);
                }
                return;
            }
            &mut FutureState::Resolved(value) => Resolution::Value(value),
            &mut FutureState::Ruined(error) => Resolution::Error(error),
        };
        if message.kind == MessageKind::Register {
            // The error, if there is one, is now observed.
            self.actor.ruined.retain(|&one| one != id);
        }
        let outcome = self.outcome(message, fate, is_marked);
        self.send_all(outcome);
    }

    /// Executes the resolution that is the next action.
    pub(super) fn resolve_next(&mut self) -> Rule {
        let (resolver, fate, is_marked) = match self.turn().frames.last_mut() {
            Some(Frame::Sends(messages)) => {
                let message = messages.pop_front().expect("a resolution is next");
                let fate = Resolution::new(message.kind == MessageKind::Ruin, message.args[0]);
                (message.receiver, fate, message.is_marked)
            }
            _ => {
                let Some(Instruction::Invoke(name, 1)) = self.instruction() else {
                    unreachable!("a resolution is next")
                };
                self.go_on();
                let value = self.pop();
                let resolver = self.pop();
                self.push(Value::Null);
                let fate = Resolution::new(name == self.code.names.ruin, value);
                (resolver, fate, self.turn().cause.is_marked())
            }
        };
        let Some(&HeapEntry::Resolver(future)) = self.actor.entry(resolver) else {
            unreachable!("a resolver of its own is next")
        };
        self.resolve(resolver, future, fate, is_marked);
        Rule::Resolve
    }

    /// resolve: sets the future, forwards its stored messages, then notifies its subscribers.
    fn resolve(&mut self, resolver: Value, id: HeapId, fate: Resolution, is_marked: bool) {
        let Future { state, site, .. } = self.actor.future_mut(id);
        let site = *site;
        if !matches!(state, FutureState::Unresolved { .. }) {
            // Only the first resolution counts.
            return;
        }
        if let Resolution::Value(value) = fate
            && self.actor.is_future(value)
        {
            // A future that is resolved with itself stays unresolved. If it is resolved with another one, it follows
            // that one.
            let chain = Message {
                kind: MessageKind::Register,
                receiver: value,
                selector: self.code.names.when,
                args: vec![Value::Null, Value::Null],
                resolver: Some(resolver),
                sender: self.actor.id,
                site,
                is_marked,
            };
            return self.send_all((value != Value::Near(id)).then_some(chain));
        }
        let state = match fate {
            Resolution::Value(value) => FutureState::Resolved(value),
            Resolution::Error(error) => FutureState::Ruined(error),
        };
        let future = self.actor.future_mut(id);
        future.is_marked = is_marked;
        let old = std::mem::replace(&mut future.state, state);
        let FutureState::Unresolved {
            stored,
            subscribers,
        } = old
        else {
            unreachable!("it was unresolved")
        };
        self.actor.waiting.retain(|&one| one != id);
        if matches!(fate, Resolution::Error(_)) && subscribers.is_empty() {
            self.actor.ruined.push(id);
        }
        let stored = stored
            .into_iter()
            .map(|message| self.outcome(message, fate, false));
        let subscribers = subscribers
            .into_iter()
            .map(|message| self.outcome(message, fate, is_marked));
        let outcome: Vec<Message> = stored.chain(subscribers).flatten().collect();
        self.send_all(outcome);
    }

    /// Returns what a message to a future becomes when the future has a result. `None` if the message is dropped.
    fn outcome(&self, message: Message, fate: Resolution, is_marked: bool) -> Option<Message> {
        let is_marked = is_marked || message.is_marked;
        let me = self.actor.id;
        match (message.kind, fate) {
            (MessageKind::Register, fate) => {
                let (block, value, kind) = match fate {
                    Resolution::Value(value) => (message.args[0], value, MessageKind::Resolve),
                    Resolution::Error(error) => (message.args[1], error, MessageKind::Ruin),
                };
                if block == Value::Null {
                    return Some(Message::resolution(
                        kind,
                        message.resolver?,
                        value,
                        self.code,
                        me,
                        is_marked,
                    ));
                }
                Some(Message {
                    kind: MessageKind::Callback,
                    receiver: block,
                    selector: self.code.names.apply,
                    args: vec![value],
                    is_marked,
                    ..message
                })
            }
            (_, Resolution::Value(value)) => Some(Message {
                receiver: value,
                ..message
            }),
            (_, Resolution::Error(error)) => {
                let kind = MessageKind::Ruin;
                Some(Message::resolution(
                    kind,
                    message.resolver?,
                    error,
                    self.code,
                    me,
                    is_marked,
                ))
            }
        }
    }

    fn send_all(&mut self, messages: impl IntoIterator<Item = Message>) {
        let messages: VecDeque<Message> = messages.into_iter().collect();
        if !messages.is_empty() {
            self.turn().frames.push(Frame::Sends(messages));
        }
    }
}
