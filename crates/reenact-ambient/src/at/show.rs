//! Presents a state to the user.

use std::fmt::Write;

use reenact_multiverse::{Ending, Observation, Wait};

use super::{
    actor::{Actor, Frame, Future, FutureState, HeapEntry, Message, MessageKind, TurnCause},
    code::{ClassKind, Instruction, SelectorId, SiteId},
    machine::{NextAction, plain_name},
    state::{State, StateTable},
    tables::ActorId,
    value::{Far, FarKind, HeapId, Value},
};

/// Maximum depth to which nested objects are shown, and maximum number of values of an actor: a list that is in several
/// places is shown in each of them.
const MAX_DEPTH: u32 = 6;
const MAX_VALUES: u32 = 100_000;

/// A state with its actors loaded.
pub(crate) struct StateView<'a> {
    table: &'a StateTable,
    state: &'a State,
    actors: Vec<Actor>,
    names: Vec<String>,
}

type Namer<'n> = &'n dyn Fn(ActorId) -> String;

impl<'a> StateView<'a> {
    pub(crate) fn new(table: &'a StateTable, state: &'a State) -> StateView<'a> {
        let actors: Vec<Actor> = state.0.iter().map(|&stored| table.load(stored)).collect();
        let mut view = StateView {
            table,
            state,
            names: Vec::new(),
            actors,
        };
        let mut names: Vec<String> = view
            .actors
            .iter()
            .map(|actor| view.plain_name(actor))
            .collect();
        // Actors with the same name are numbered.
        for at in 0..names.len() {
            let same: Vec<usize> = (at..names.len())
                .filter(|&other| names[other] == names[at])
                .collect();
            if same.len() > 1 {
                for (number, other) in same.into_iter().enumerate() {
                    let _ = write!(names[other], "#{}", number + 1);
                }
            }
        }
        view.names = names;
        view
    }

    pub(crate) fn has(&self, actor: ActorId) -> bool {
        self.actors.iter().any(|one| one.id == actor)
    }

    pub(crate) fn name(&self, actor: ActorId) -> &str {
        let at = self.actors.iter().position(|one| one.id == actor);
        at.map_or("an actor to come", |at| &self.names[at])
    }

    /// Returns the name of the creator's field that holds the actor, or else the name of its class.
    fn plain_name(&self, actor: &Actor) -> String {
        let Some((creator, _)) = self.table.actors.origin(actor.id) else {
            return "main".to_owned();
        };
        let is_it = |value: &Value| matches!(value, Value::Far(far) if far.actor == actor.id && far.slot == 0);
        let creator = self.actor(creator);
        for (name, value) in self.fields(creator) {
            if is_it(&value) {
                return name.to_owned();
            }
            if let Some(HeapEntry::List(values)) = creator.entry(value)
                && let Some(at) = values.iter().position(is_it)
            {
                return format!("{name}#{}", at + 1);
            }
        }
        match actor.get(actor.exports[0]) {
            HeapEntry::Object { class, .. } => self.table.code.class(*class).name.clone(),
            other => unreachable!("{other:?} is no behaviour"),
        }
    }

    fn actor(&self, id: ActorId) -> &Actor {
        self.actors
            .iter()
            .find(|actor| actor.id == id)
            .expect("it is an actor of this state")
    }

    /// Returns the fields of an actor's behaviour.
    fn fields<'v>(&'v self, actor: &'v Actor) -> impl Iterator<Item = (&'v str, Value)> {
        let HeapEntry::Object { class, fields } = actor.get(actor.exports[0]) else {
            unreachable!("slot 0 is the behaviour")
        };
        let names = self
            .table
            .code
            .class(*class)
            .fields
            .iter()
            .map(String::as_str);
        names.zip(fields.iter().copied())
    }

    // Values

    fn text(&self, actor: &Actor, value: Value, name: Namer<'_>) -> String {
        match value {
            Value::Text(text) => format!("{:?}", self.table.texts.get(text)),
            Value::Bool(value) => value.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(bits) => f64::from_bits(bits).to_string(),
            Value::Far(Far { actor, slot: 0, .. }) => name(actor),
            Value::Far(Far { actor, kind, .. }) => match kind {
                FarKind::Object => format!("an object of {}", name(actor)),
                FarKind::Future => format!("a future of {}", name(actor)),
                FarKind::Resolver => format!("a resolver of {}", name(actor)),
            },
            _ => match actor.entry(value) {
                Some(_) if value == Value::Near(actor.exports[0]) => name(actor.id),
                Some(HeapEntry::Object { class, .. }) => match self.table.code.class(*class).kind {
                    ClassKind::Isolate => "an isolate".to_owned(),
                    ClassKind::Object | ClassKind::Actor => "an object".to_owned(),
                },
                Some(HeapEntry::List(values)) => {
                    let all: Vec<String> = values
                        .iter()
                        .map(|&one| match actor.entry(one) {
                            Some(HeapEntry::List(_)) => "[…]".to_owned(),
                            _ => self.text(actor, one, name),
                        })
                        .collect();
                    format!("[{}]", all.join(", "))
                }
                entry => plain_name(value, entry).to_owned(),
            },
        }
    }

    fn observation(&self, actor: &Actor, value: Value, depth: u32, left: &mut u32) -> Observation {
        *left = left.saturating_sub(1);
        let name = |actor: ActorId| self.name(actor).to_owned();
        match (value, actor.entry(value)) {
            (Value::Null, _) => Observation::Null,
            (Value::Bool(value), _) => Observation::Bool(value),
            (Value::Int(number), _) => Observation::Int(number),
            (Value::Float(bits), _) => Observation::Float(f64::from_bits(bits)),
            (Value::Text(text), _) => Observation::Text(self.table.texts.get(text).to_owned()),
            (_, Some(HeapEntry::List(values))) if depth < MAX_DEPTH && *left > 0 => {
                Observation::List(
                    values
                        .iter()
                        .map(|&one| self.observation(actor, one, depth + 1, left))
                        .collect(),
                )
            }
            (_, Some(HeapEntry::Object { class, fields }))
                if depth < MAX_DEPTH && *left > 0 && value != Value::Near(actor.exports[0]) =>
            {
                let names = self.table.code.class(*class).fields.iter().cloned();
                let values = fields
                    .iter()
                    .map(|&one| self.observation(actor, one, depth + 1, left));
                Observation::Record(names.zip(values).collect())
            }
            (_, Some(HeapEntry::Future(future))) => {
                Observation::Record(vec![match &future.state {
                    FutureState::Unresolved { .. } => (
                        "future".to_owned(),
                        Observation::Text("unresolved".to_owned()),
                    ),
                    FutureState::Resolved(value) => (
                        "resolved".to_owned(),
                        self.observation(actor, *value, depth + 1, left),
                    ),
                    FutureState::Ruined(error) => (
                        "ruined".to_owned(),
                        self.observation(actor, *error, depth + 1, left),
                    ),
                }])
            }
            _ => Observation::Text(self.text(actor, value, &name)),
        }
    }

    pub(crate) fn observe(&self) -> Observation {
        let all = self.actors.iter().zip(&self.names);
        Observation::Record(
            all.map(|(actor, name)| (name.clone(), self.observe_actor(actor)))
                .collect(),
        )
    }

    fn observe_actor(&self, actor: &Actor) -> Observation {
        let mut left = MAX_VALUES;
        let fields = self.fields(actor);
        let mut all: Vec<(String, Observation)> = fields
            .map(|(name, value)| {
                (
                    name.to_owned(),
                    self.observation(actor, value, 0, &mut left),
                )
            })
            .collect();
        let texts = |ids: &[_]| {
            Observation::List(
                ids.iter()
                    .map(|&id| Observation::Text(self.table.texts.get(id).to_owned()))
                    .collect(),
            )
        };
        let doing = match &actor.turn {
            None => "idle".to_owned(),
            Some(_) => self.describe(actor.id, &|actor| self.name(actor).to_owned()),
        };
        let inbox = actor
            .inbox
            .iter()
            .map(|message| self.observe_message(actor, message))
            .collect();
        let own = [
            ("does", Observation::Text(doing)),
            ("inbox", Observation::List(inbox)),
            ("printed", texts(&actor.printed)),
            ("errors", texts(&actor.errors)),
            ("waits", Observation::Int(self.waits(actor).count() as i64)),
        ];
        for (name, value) in own {
            if all.iter().all(|(other, _)| other != name) {
                all.push((name.to_owned(), value));
            }
        }
        Observation::Record(all)
    }

    fn observe_message(&self, actor: &Actor, message: &Message) -> Observation {
        let mut left = MAX_VALUES;
        let args = message
            .args
            .iter()
            .map(|&value| self.observation(actor, value, 0, &mut left))
            .collect();
        let line = self.table.code.site(message.site);
        Observation::Record(vec![
            (
                "name".to_owned(),
                Observation::Text(self.table.code.selector(message.selector).to_owned()),
            ),
            ("args".to_owned(), Observation::List(args)),
            (
                "from".to_owned(),
                Observation::Text(self.name(message.sender).to_owned()),
            ),
            (
                "line".to_owned(),
                line.map_or(Observation::Null, |site| Observation::Int(site.line.into())),
            ),
        ])
    }

    // Descriptions

    /// Describes the next action of the actor.
    pub(crate) fn describe(&self, actor: ActorId, name: Namer<'_>) -> String {
        let actor = self.actor(actor);
        let at = self
            .table
            .position(self.state, actor.id)
            .expect("it is an actor of this state");
        let next = self.table.get(self.state.0[at]).next;
        match next {
            NextAction::Nothing => "waits for a message".to_owned(),
            NextAction::Process => {
                self.describe_message(actor, actor.inbox.front().expect("there is one"), name)
            }
            _ => self.describe_turn(actor, next, name),
        }
    }

    fn describe_message(&self, actor: &Actor, message: &Message, name: Namer<'_>) -> String {
        let called = self.call(actor, message, name);
        let sender = name(message.sender);
        let value = message
            .args
            .first()
            .map(|&value| self.text(actor, value, name))
            .unwrap_or_default();
        match (message.kind, actor.entry(message.receiver)) {
            (MessageKind::Resolve, _) => format!("receives {value} from {sender}"),
            (MessageKind::Ruin, _) => format!("receives the error {value} from {sender}"),
            (MessageKind::Callback, _) => {
                format!("runs the block{} with {value}", self.line(message.site))
            }
            (MessageKind::Register, Some(HeapEntry::Future(future))) => match message.args[0] {
                Value::Null => format!("links {} to another", self.future(future)),
                _ => format!(
                    "lets the block{} wait for {}",
                    self.line(message.site),
                    self.future(future)
                ),
            },
            (MessageKind::Register, _) => {
                format!("lets the block{} run at once", self.line(message.site))
            }
            (MessageKind::Plain, Some(HeapEntry::Future(future))) => match future.state {
                FutureState::Unresolved { .. } => {
                    format!("keeps {called} from {sender} for {}", self.future(future))
                }
                _ => format!("passes on {called} from {sender}"),
            },
            (MessageKind::Plain, _) => format!("processes {called} from {sender}"),
        }
    }

    fn call(&self, actor: &Actor, message: &Message, name: Namer<'_>) -> String {
        self.called(actor, message.selector, &message.args, name)
    }

    fn called(
        &self,
        actor: &Actor,
        selector: SelectorId,
        args: &[Value],
        name: Namer<'_>,
    ) -> String {
        let args: Vec<String> = args
            .iter()
            .map(|&value| self.text(actor, value, name))
            .collect();
        format!(
            "{}({})",
            self.table.code.selector(selector),
            args.join(", ")
        )
    }

    fn describe_turn(&self, actor: &Actor, next: NextAction, name: Namer<'_>) -> String {
        let code = &self.table.code;
        let turn = actor.turn.as_ref().expect("it is in a turn");
        let to = match next {
            NextAction::Send(to) if to == actor.id => "itself".to_owned(),
            NextAction::Send(to) => name(to),
            _ => String::new(),
        };
        match turn.frames.last() {
            Some(Frame::Sends(messages)) => {
                let Some(message) = messages.front() else {
                    return "ends its turn".to_owned();
                };
                let value = message
                    .args
                    .first()
                    .map(|&value| self.text(actor, value, name))
                    .unwrap_or_default();
                match message.kind {
                    MessageKind::Resolve if to.is_empty() => {
                        format!("resolves its future with {value}")
                    }
                    MessageKind::Ruin if to.is_empty() => format!("ruins its future with {value}"),
                    MessageKind::Resolve => format!("answers {to} with {value}"),
                    MessageKind::Ruin => format!("answers {to} with the error {value}"),
                    MessageKind::Callback => {
                        let block = format!("the block{}", self.line(message.site));
                        match next == NextAction::Send(actor.id) {
                            true => format!("wakes {block} with {value}"),
                            false => format!("wakes {block} at {to} with {value}"),
                        }
                    }
                    MessageKind::Register => {
                        format!("subscribes to a future of {to}")
                    }
                    MessageKind::Plain => {
                        format!("forwards {} to {to}", self.call(actor, message, name))
                    }
                }
            }
            Some(Frame::Code {
                code: id,
                pc,
                stack,
                ..
            }) => {
                let body = code.body(*id);
                let site = body.sites[*pc as usize];
                let instruction = body.instructions[*pc as usize];
                match (instruction, instruction.sent(stack)) {
                    (Instruction::Send { selector, .. }, Some((_, args))) => {
                        let called = self.called(actor, selector, args, name);
                        format!("sends {called} to {to}")
                    }
                    (_, Some((future, _))) => {
                        let future = match actor.entry(future) {
                            Some(HeapEntry::Future(future)) => self.future(future),
                            _ => self.text(actor, future, name),
                        };
                        format!("registers the block{} with {future}", self.line(site))
                    }
                    (Instruction::Actor { class, .. }, _) => {
                        format!("creates the actor {}", code.class(class).name)
                    }
                    (Instruction::Invoke(selector, _), _) if next == NextAction::Resolve => {
                        let value = self.text(actor, stack[stack.len() - 1], name);
                        match selector == code.names.ruin {
                            true => format!("ruins a future with {value}"),
                            false => format!("resolves a future with {value}"),
                        }
                    }
                    _ if turn.cause == TurnCause::Creation && *pc == 0 => "begins".to_owned(),
                    _ => match code.site(site) {
                        Some(site) => format!("goes on in line {}", site.line),
                        None => "goes on".to_owned(),
                    },
                }
            }
            None => "ends its turn".to_owned(),
        }
    }

    fn line(&self, site: SiteId) -> String {
        match self.table.code.site(site) {
            Some(site) => format!(" of line {}", site.line),
            None => String::new(),
        }
    }

    /// Appends a description of what the actor's step has changed.
    pub(crate) fn describe_changes(
        &self,
        before: &StateView<'_>,
        actor: ActorId,
        name: Namer<'_>,
        text: &mut String,
    ) {
        let (old, new) = (before.actor(actor), self.actor(actor));
        for ((field, was), (_, is)) in self.fields(old).zip(self.fields(new)) {
            let (was, is) = (self.text(old, was, name), self.text(new, is, name));
            // A value whose name is that of the field is not worth showing.
            if was != is && is != field {
                let _ = write!(text, "; {field} := {is}");
            }
        }
        for &printed in new.printed.iter().skip(old.printed.len()) {
            let _ = write!(text, "; prints {}", self.table.texts.get(printed));
        }
        for &error in new.errors.iter().skip(old.errors.len()) {
            let _ = write!(text, "; fails: {}", self.table.texts.get(error));
        }
    }

    // Ends

    pub(crate) fn ending(&self) -> Ending {
        let mut ending = Ending::default();
        for (actor, name) in self.actors.iter().zip(&self.names) {
            for (field, value) in self.fields(actor) {
                if self.is_plain(actor, value, 0) {
                    let text = self.text(actor, value, &|_| String::new());
                    ending.outcome.push(format!("{name}.{field} = {text}"));
                }
            }
            for &printed in &actor.printed {
                ending
                    .outcome
                    .push(format!("{name} prints {}", self.table.texts.get(printed)));
            }
            for &error in &actor.errors {
                ending
                    .errors
                    .push(format!("{name}: {}", self.table.texts.get(error)));
            }
            for &ruined in &actor.ruined {
                if let HeapEntry::Future(
                    future @ Future {
                        state: FutureState::Ruined(error),
                        ..
                    },
                ) = actor.get(ruined)
                {
                    let error = match *error {
                        Value::Text(text) => self.table.texts.get(text).to_owned(),
                        other => self.text(actor, other, &|actor| self.name(actor).to_owned()),
                    };
                    ending.errors.push(format!(
                        "{name}: {} is an error: {error}",
                        self.future(future)
                    ));
                }
            }
            ending
                .waits
                .extend(self.waits(actor).map(|(future, waiting)| Wait {
                    who: name.clone(),
                    what: self.future(future),
                    site: self.table.code.site(waiting.site),
                }));
        }
        ending
    }

    /// Whether a value contains no references.
    fn is_plain(&self, actor: &Actor, value: Value, depth: u32) -> bool {
        match (value, actor.entry(value)) {
            (
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_),
                _,
            ) => true,
            (_, Some(HeapEntry::List(values))) => {
                depth == 0
                    && values
                        .iter()
                        .all(|&one| self.is_plain(actor, one, depth + 1))
            }
            _ => false,
        }
    }

    /// Returns the futures with a block or message that waits for them, and one of these messages.
    fn waits<'v>(&self, actor: &'v Actor) -> impl Iterator<Item = (&'v Future, &'v Message)> {
        actor.waiting.iter().filter_map(|&id: &HeapId| {
            let HeapEntry::Future(future) = actor.get(id) else {
                unreachable!("only futures are waited for")
            };
            let FutureState::Unresolved {
                stored,
                subscribers,
            } = &future.state
            else {
                unreachable!("it is waited for until it is resolved")
            };
            // If only another future waits for it, no activity is blocked by this one.
            let blocks = subscribers
                .iter()
                .filter(|message| message.args[0] != Value::Null);
            Some((future, blocks.chain(stored).next()?))
        })
    }

    /// Describes a future by the message that it answers.
    fn future(&self, future: &Future) -> String {
        let code = &self.table.code;
        let made = code.bodies.iter().find_map(|body| {
            let of_site = body
                .instructions
                .iter()
                .zip(&body.sites)
                .filter(|(_, site)| **site == future.site);
            of_site
                .map(|(instruction, _)| *instruction)
                .find_map(|instruction| match instruction {
                    Instruction::Send { selector, .. } => {
                        Some(format!("the answer to {}", code.selector(selector)))
                    }
                    Instruction::Register => Some(format!("the block{}", self.line(future.site))),
                    _ => None,
                })
        });
        made.unwrap_or_else(|| format!("the future{}", self.line(future.site)))
    }
}
