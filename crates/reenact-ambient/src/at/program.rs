//! A program as a [`Semantics`].

use std::borrow::Cow;

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics, StepSize,
};

use super::{
    actor::{Actor, Frame, HeapEntry, Message, MessageKind, TurnCause},
    code::{Instruction, SelectorId},
    compile::compile,
    machine::{NextAction, Rule, Stops},
    parser::parse,
    show::StateView,
    state::{State, StateTable, Stored},
    tables::{ActorId, Texts},
    value::Value,
};
use crate::{Source, SyntaxError};

/// A program in Featherweight AmbientTalk.
///
/// # Nondeterminism
///
/// Actors run concurrently, and most of their steps are independent of other actors. They interact where a message is
/// appended to an inbox: two sends to the same actor are dependent, all other steps of different actors are not. An
/// actor processes its messages in the order of its inbox, so there is no other choice.
pub struct Program {
    source: Source,
    table: StateTable,
}

/// The next step of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    actor: ActorId,
    /// The actor whose inbox it appends to.
    to: Option<ActorId>,
}

impl Program {
    /// Compiles a program, which takes macro-steps by default.
    pub fn new(source: Source) -> Result<Program, SyntaxError> {
        let with_source = |error: SyntaxError| error.with_source(&source);
        let statements = parse(&source).map_err(with_source)?;
        let texts = Texts::new();
        let code = compile(&source, &statements, &texts).map_err(with_source)?;
        let table = StateTable::new(code, texts, Stops::default());
        Ok(Program { source, table })
    }

    /// Returns the same program with another step size.
    pub fn with_step_size(mut self, step_size: StepSize) -> Program {
        let lines = self.table.stops().lines.clone();
        self.table.set_stops(Stops { step_size, lines });
        self
    }

    /// Returns the source of the program.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the first rule that a step of `state` applies.
    pub fn rule(&self, state: &State, step: &Step) -> Option<Rule> {
        self.table.take(state, step.actor).0
    }

    fn actor(&self, state: &State, actor: ActorId) -> Actor {
        let at = self
            .table
            .position(state, actor)
            .expect("it is an actor of this state");
        self.table.load(state.0[at])
    }

    fn stored(&self, state: &State, actor: ActorId) -> &Stored {
        let at = self
            .table
            .position(state, actor)
            .expect("it is an actor of this state");
        self.table.get(state.0[at])
    }

    fn view<'a>(&'a self, state: &'a State) -> StateView<'a> {
        StateView::new(&self.table, state)
    }

    fn with_actors(&self, state: &State, change: impl Fn(&mut Actor)) -> State {
        let changed = state.0.iter().map(|&stored| {
            let mut actor = self.table.load(stored);
            change(&mut actor);
            self.table.store(actor)
        });
        State(changed.collect())
    }

    fn operation_of_message(&self, actor: &Actor, message: &Message) -> Operation<'_> {
        let code = &self.table.code;
        let mut operation = Operation {
            kind: OperationKind::Local,
            activity: activity(actor.id),
            subject: self.subject(message.kind, message.selector),
            with: Some(activity(message.sender)),
            site: None,
            sent_at: code.site(message.site),
            depth: 0,
            marked: message.is_marked,
        };
        let body = match actor.entry(message.receiver) {
            Some(HeapEntry::Object { class, .. }) => {
                code.class(*class).methods.get(&message.selector)
            }
            Some(HeapEntry::Block { code, .. }) => Some(code),
            _ => None,
        };
        operation.site = body.and_then(|&body| code.body(body).site);
        if !matches!(
            actor.entry(message.receiver),
            Some(HeapEntry::Future(_) | HeapEntry::Resolver(_))
        ) {
            operation.kind = match message.kind {
                MessageKind::Plain => OperationKind::Turn,
                MessageKind::Callback => OperationKind::Callback,
                MessageKind::Register | MessageKind::Resolve | MessageKind::Ruin => {
                    OperationKind::Local
                }
            };
        }
        operation
    }

    fn subject(&self, kind: MessageKind, selector: SelectorId) -> Cow<'_, str> {
        match kind {
            MessageKind::Callback => Cow::Borrowed("becomes"),
            _ => Cow::Borrowed(self.table.code.selector(selector)),
        }
    }

    /// Returns the turn that an actor is in.
    fn turn_of(&self, actor: &Actor) -> Option<Operation<'_>> {
        let turn = actor.turn.as_ref()?;
        let TurnCause::Message {
            kind,
            selector,
            site,
            sender,
            is_marked,
        } = turn.cause
        else {
            return None;
        };
        Some(Operation {
            kind: match kind {
                MessageKind::Plain => OperationKind::Turn,
                MessageKind::Callback => OperationKind::Callback,
                MessageKind::Register | MessageKind::Resolve | MessageKind::Ruin => return None,
            },
            activity: activity(actor.id),
            subject: self.subject(kind, selector),
            with: Some(activity(sender)),
            site: None,
            sent_at: self.table.code.site(site),
            depth: turn.frames.len() as u32,
            marked: is_marked,
        })
    }

    /// Returns what an actor in a turn is about to do.
    fn operation_in_turn(&self, actor: &Actor, next: NextAction) -> Operation<'_> {
        let code = &self.table.code;
        let turn = actor.turn.as_ref().expect("it is in a turn");
        let mut operation = Operation {
            kind: OperationKind::Local,
            activity: activity(actor.id),
            subject: match turn.cause {
                TurnCause::Message { kind, selector, .. } => self.subject(kind, selector),
                TurnCause::Creation => Cow::Borrowed(""),
            },
            with: match next {
                NextAction::Send(to) => Some(activity(to)),
                _ => None,
            },
            site: None,
            sent_at: None,
            depth: turn.frames.len() as u32,
            marked: turn.marks_next,
        };
        let send = |receiver: Value| match actor.is_future(receiver) {
            true => OperationKind::PromiseSend,
            false => OperationKind::MessageSend,
        };
        match turn.frames.last() {
            Some(Frame::Sends(messages)) => {
                let Some(message) = messages.front() else {
                    return operation;
                };
                operation.marked |= message.is_marked;
                operation.site = code.site(message.site);
                match message.kind {
                    MessageKind::Resolve | MessageKind::Ruin => {
                        operation.kind = OperationKind::Resolve
                    }
                    MessageKind::Plain => {
                        operation.kind = send(message.receiver);
                        operation.subject = Cow::Borrowed(code.selector(message.selector));
                    }
                    MessageKind::Register | MessageKind::Callback => {}
                }
            }
            Some(Frame::Code {
                code: id,
                pc,
                stack,
                ..
            }) => {
                let body = code.body(*id);
                operation.site = code.site(body.sites[*pc as usize]);
                let instruction = body.instructions[*pc as usize];
                let receiver = instruction.sent(stack).map(|(receiver, _)| receiver);
                match (instruction, receiver) {
                    (Instruction::Send { selector, .. }, Some(receiver)) => {
                        operation.kind = send(receiver);
                        operation.subject = Cow::Borrowed(code.selector(selector));
                    }
                    (Instruction::Register, _) => {
                        operation.kind = OperationKind::PromiseSend;
                        operation.subject = Cow::Borrowed(code.selector(code.names.when));
                    }
                    (Instruction::Actor { class, .. }, _) => {
                        operation.kind = OperationKind::Create;
                        operation.subject = Cow::Borrowed(&code.class(class).name);
                    }
                    _ if next == NextAction::Resolve => {
                        operation.kind = OperationKind::Resolve;
                        operation.marked |= turn.cause.is_marked();
                    }
                    _ if turn.cause == TurnCause::Creation
                        && *pc == 0
                        && turn.frames.len() == 1 =>
                    {
                        operation.kind = OperationKind::Begin;
                        operation.subject = Cow::Borrowed(&body.name);
                    }
                    _ => {}
                }
            }
            None => {}
        }
        operation
    }
}

fn activity(actor: ActorId) -> Activity {
    Activity(actor.0)
}

impl Semantics for Program {
    type State = State;
    type Step = Step;

    fn initial(&self) -> Vec<State> {
        vec![self.table.initial()]
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let step = |&stored| {
            let stored = self.table.get(stored);
            let to = match stored.next {
                NextAction::Nothing => return None,
                NextAction::Send(to) => Some(to),
                NextAction::Process
                | NextAction::Continue
                | NextAction::Create
                | NextAction::Resolve => None,
            };
            Some(Step {
                actor: stored.id,
                to,
            })
        };
        state.0.iter().filter_map(step).collect()
    }

    fn take(&self, state: &State, step: &Step) -> State {
        self.table.take(state, step.actor).1
    }

    fn activity(&self, step: &Step) -> Activity {
        activity(step.actor)
    }

    fn dependent(&self, a: &Step, b: &Step) -> bool {
        a.actor == b.actor || (a.to.is_some() && a.to == b.to)
    }

    fn is_alone(&self, _: &State, step: &Step) -> bool {
        step.to.is_none()
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &[
            OperationKind::MessageSend,
            OperationKind::PromiseSend,
            OperationKind::Resolve,
            OperationKind::Turn,
            OperationKind::Callback,
            OperationKind::Create,
            OperationKind::Begin,
            OperationKind::Local,
        ]
    }

    fn operation<'a>(&'a self, state: &'a State, step: &Step) -> Operation<'a> {
        let stored = self.stored(state, step.actor);
        let operation = stored.operation.get_or_init(|| {
            let actor = self.actor(state, step.actor);
            Box::new(match stored.next {
                NextAction::Process => {
                    let message = actor.inbox.front().expect("there is a message");
                    self.operation_of_message(&actor, message).into_owned()
                }
                next => self.operation_in_turn(&actor, next).into_owned(),
            })
        });
        operation.reborrow()
    }

    fn activities(&self, state: &State) -> Vec<Activity> {
        let mut all: Vec<Activity> = state
            .0
            .iter()
            .map(|&stored| activity(self.table.get(stored).id))
            .collect();
        all.sort_unstable();
        all
    }

    fn turn<'a>(&'a self, state: &'a State, of: Activity) -> Option<Operation<'a>> {
        let turn = self.stored(state, ActorId(of.0)).turn.get_or_init(|| {
            let actor = self.actor(state, ActorId(of.0));
            Some(Box::new(self.turn_of(&actor)?.into_owned()))
        });
        Some(turn.as_ref()?.reborrow())
    }

    fn mark(&self, state: &State, of: Activity, what: Marked) -> State {
        self.with_actors(state, |actor| {
            if actor.id == ActorId(of.0) {
                actor.mark(what);
            }
        })
    }

    fn unmark(&self, state: &State) -> State {
        self.with_actors(state, Actor::unmark)
    }

    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        let (known, unknown): (Vec<u32>, Vec<u32>) = lines
            .iter()
            .partition(|&line| self.table.code.lines.binary_search(line).is_ok());
        let step_size = self.table.stops().step_size;
        self.table.set_stops(Stops {
            step_size,
            lines: known,
        });
        unknown
    }

    fn name(&self, state: &State, of: Activity) -> String {
        self.view(state).name(ActorId(of.0)).to_owned()
    }

    fn describe(&self, state: &State, step: &Step, name: &dyn Fn(Activity) -> String) -> String {
        let (before, after) = (self.view(state), self.take(state, step));
        let after = self.view(&after);
        let name = |actor: ActorId| match before.has(actor) {
            true => name(activity(actor)),
            false => after.name(actor).to_owned(),
        };
        let mut text = before.describe(step.actor, &name);
        after.describe_changes(&before, step.actor, &name, &mut text);
        text
    }

    fn observe(&self, state: &State) -> Observation {
        self.view(state).observe()
    }

    fn ending(&self, state: &State) -> Ending {
        self.view(state).ending()
    }

    fn state_bytes(&self, state: &State) -> usize {
        match state.0.spilled() {
            true => size_of_val(&*state.0),
            false => 0,
        }
    }

    fn shared_bytes(&self) -> usize {
        self.table.bytes()
    }
}
