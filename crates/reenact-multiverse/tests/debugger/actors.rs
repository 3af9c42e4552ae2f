//! A language of actors, as small as can be: scripted methods, an inbox each, a number each.
//!
//! It has every operation of the actor catalogue. What is asked for is answered at the end of the turn, by a resolution
//! of its own; the answer runs a method of who asked as a callback.

use std::collections::VecDeque;

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics, Site,
};

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Actors {
    pub(crate) actors: Vec<Actor>,
}

#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) name: &'static str,
    /// Whether it exists at the start.
    pub(crate) exists: bool,
    /// What is in its inbox then.
    pub(crate) inbox: Vec<&'static str>,
    pub(crate) methods: Vec<(&'static str, Vec<Act>)>,
}

impl Actor {
    /// An actor that exists at the start.
    pub(crate) fn new(
        name: &'static str,
        inbox: Vec<&'static str>,
        methods: Vec<(&'static str, Vec<Act>)>,
    ) -> Actor {
        Actor {
            name,
            exists: true,
            inbox,
            methods,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    pub(crate) line: u32,
    pub(crate) depth: u32,
    pub(crate) does: Do,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    Send(u32, &'static str),
    /// The last is the method that gets the answer.
    Ask(u32, &'static str, &'static str),
    /// Through a promise that is resolved.
    Forward(u32, &'static str),
    Create(u32),
    Set(i64),
    Choose(i64, i64),
}

pub(crate) fn at(line: u32, does: Do) -> Act {
    Act {
        line,
        depth: 0,
        does,
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World(Vec<Option<State>>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    has_begun: bool,
    inbox: VecDeque<Message>,
    turn: Option<(Message, usize)>,
    number: i64,
    marks_next: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    method: &'static str,
    sent_at: Option<u32>,
    /// Who asked, and the method that gets the answer.
    asked: Option<(u32, &'static str, u32)>,
    is_callback: bool,
    marked: bool,
}

/// Who, and which way.
pub(crate) type Way = (Activity, u8);

impl Actors {
    fn script(&self, actor: u32, method: &str) -> &[Act] {
        let methods = &self.actors[actor as usize].methods;
        let found = methods.iter().find(|(name, _)| *name == method);
        found.map_or(&[], |(_, script)| script)
    }

    fn next(&self, world: &World, actor: u32) -> Option<Act> {
        let (message, done) = world.0[actor as usize].as_ref()?.turn.as_ref()?;
        self.script(actor, message.method).get(*done).copied()
    }

    fn finish(&self, world: &mut World, actor: u32) {
        let state = world.0[actor as usize].as_mut().expect("it exists");
        if let Some((message, done)) = &state.turn
            && *done == self.script(actor, message.method).len()
            && message.asked.is_none()
        {
            state.turn = None;
        }
    }
}

impl World {
    fn post(&mut self, to: u32, message: Message) {
        if let Some(receiver) = &mut self.0[to as usize] {
            receiver.inbox.push_back(message);
        }
    }

    pub(crate) fn number(&self, actor: u32) -> i64 {
        self.0[actor as usize]
            .as_ref()
            .map_or(0, |state| state.number)
    }

    pub(crate) fn inbox(&self, actor: u32) -> usize {
        self.0[actor as usize]
            .as_ref()
            .map_or(0, |state| state.inbox.len())
    }
}

impl Semantics for Actors {
    type State = World;
    type Step = Way;

    fn initial(&self) -> Vec<World> {
        let state = |actor: &Actor| State {
            has_begun: true,
            inbox: actor
                .inbox
                .iter()
                .map(|method| Message {
                    method,
                    sent_at: None,
                    asked: None,
                    is_callback: false,
                    marked: false,
                })
                .collect(),
            ..State::default()
        };
        let all = self.actors.iter();
        vec![World(
            all.map(|actor| actor.exists.then(|| state(actor)))
                .collect(),
        )]
    }

    fn steps(&self, world: &World) -> Vec<Way> {
        let mut ways = Vec::new();
        for (number, state) in world.0.iter().enumerate() {
            let Some(state) = state else { continue };
            let activity = Activity(number as u32);
            if !state.has_begun || state.turn.is_some() || !state.inbox.is_empty() {
                ways.push((activity, 0));
            }
            if let Some(Act {
                does: Do::Choose(..),
                ..
            }) = self.next(world, activity.0)
            {
                ways.push((activity, 1));
            }
        }
        ways
    }

    fn take(&self, world: &World, step: &Way) -> World {
        let (Activity(actor), way) = *step;
        let mut next = world.clone();
        let act = self.next(world, actor);
        let state = next.0[actor as usize].as_mut().expect("it exists");
        if !state.has_begun {
            state.has_begun = true;
            return next;
        }
        let Some((_, done)) = &mut state.turn else {
            let message = state.inbox.pop_front().expect("there is a message");
            state.turn = Some((message, 0));
            self.finish(&mut next, actor);
            return next;
        };
        let marked = std::mem::take(&mut state.marks_next);
        let Some(act) = act else {
            let (message, _) = state.turn.take().expect("it is in a turn");
            let (asker, method, line) = message.asked.expect("it is to be answered");
            next.post(
                asker,
                Message {
                    method,
                    sent_at: Some(line),
                    asked: None,
                    is_callback: true,
                    marked: message.marked,
                },
            );
            return next;
        };
        *done += 1;
        let message = |method, asked| Message {
            method,
            sent_at: Some(act.line),
            asked,
            is_callback: false,
            marked,
        };
        match act.does {
            Do::Send(to, method) | Do::Forward(to, method) => next.post(to, message(method, None)),
            Do::Ask(to, method, callback) => {
                next.post(to, message(method, Some((actor, callback, act.line))));
            }
            Do::Create(who) => {
                next.0[who as usize].get_or_insert_default();
            }
            Do::Set(number) => state.number = number,
            Do::Choose(first, second) => state.number = if way == 0 { first } else { second },
        }
        self.finish(&mut next, actor);
        next
    }

    fn activity(&self, step: &Way) -> Activity {
        step.0
    }

    fn dependent(&self, _: &Way, _: &Way) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        use OperationKind::*;
        &[
            MessageSend,
            PromiseSend,
            Resolve,
            Turn,
            Callback,
            Create,
            Begin,
            Choice,
            Local,
        ]
    }

    fn operation<'a>(&'a self, world: &'a World, step: &Way) -> Operation<'a> {
        let activity = step.0;
        let site = |line| Some(Site { line, column: 1 });
        let state = world.0[activity.0 as usize].as_ref().expect("it exists");
        let mut operation = Operation {
            kind: OperationKind::Local,
            activity,
            subject: "".into(),
            with: None,
            site: None,
            sent_at: None,
            depth: 0,
            marked: false,
        };
        if !state.has_begun {
            operation.kind = OperationKind::Begin;
            return operation;
        }
        if let Some(act) = self.next(world, activity.0) {
            operation.site = site(act.line);
            operation.depth = act.depth;
            match act.does {
                Do::Send(to, method) | Do::Ask(to, method, _) => {
                    operation.kind = OperationKind::MessageSend;
                    operation.with = Some(Activity(to));
                    operation.subject = method.into();
                }
                Do::Forward(_, method) => {
                    operation.kind = OperationKind::PromiseSend;
                    operation.subject = method.into();
                }
                Do::Create(who) => {
                    operation.kind = OperationKind::Create;
                    operation.subject = self.actors[who as usize].name.into();
                }
                Do::Choose(..) => operation.kind = OperationKind::Choice,
                Do::Set(_) => {}
            }
            return operation;
        }
        let (message, kind) = match (&state.turn, state.inbox.front()) {
            (Some((message, _)), _) => (message, OperationKind::Resolve),
            (None, Some(message)) if message.is_callback => (message, OperationKind::Callback),
            (None, Some(message)) => (message, OperationKind::Turn),
            (None, None) => unreachable!("an idle actor has no step"),
        };
        operation.kind = kind;
        operation.subject = message.method.into();
        operation.marked = message.marked;
        match kind {
            OperationKind::Resolve => {
                operation.with = message.asked.map(|(asker, ..)| Activity(asker));
            }
            _ => operation.sent_at = message.sent_at.and_then(site),
        }
        operation
    }

    fn activities(&self, world: &World) -> Vec<Activity> {
        (0..)
            .zip(&world.0)
            .filter(|(_, state)| state.is_some())
            .map(|(number, _)| Activity(number))
            .collect()
    }

    fn turn<'a>(&'a self, world: &'a World, activity: Activity) -> Option<Operation<'a>> {
        let (message, _) = world.0[activity.0 as usize].as_ref()?.turn.as_ref()?;
        Some(Operation {
            kind: match message.is_callback {
                true => OperationKind::Callback,
                false => OperationKind::Turn,
            },
            activity,
            subject: message.method.into(),
            with: None,
            site: None,
            sent_at: message.sent_at.map(|line| Site { line, column: 1 }),
            depth: 0,
            marked: message.marked,
        })
    }

    fn mark(&self, world: &World, activity: Activity, what: Marked) -> World {
        let mut marked = world.clone();
        let state = marked.0[activity.0 as usize].as_mut().expect("it exists");
        match (what, &mut state.turn) {
            (Marked::Next, _) => state.marks_next = true,
            (Marked::Turn, Some((message, _))) => message.marked = true,
            (Marked::Turn, None) => {}
        }
        marked
    }

    fn unmark(&self, world: &World) -> World {
        let mut plain = world.clone();
        for state in plain.0.iter_mut().flatten() {
            state.marks_next = false;
            let turn = state.turn.iter_mut().map(|(message, _)| message);
            for message in state.inbox.iter_mut().chain(turn) {
                message.marked = false;
            }
        }
        plain
    }

    fn stop_at(&mut self, lines: &[u32]) -> Vec<u32> {
        let mut missing = lines.to_vec();
        for (_, script) in self.actors.iter().flat_map(|actor| &actor.methods) {
            missing.retain(|line| !script.iter().any(|act| act.line == *line));
        }
        missing
    }

    fn name(&self, _: &World, activity: Activity) -> String {
        self.actors[activity.0 as usize].name.to_owned()
    }

    fn describe(&self, world: &World, step: &Way, name: &dyn Fn(Activity) -> String) -> String {
        let operation = self.operation(world, step);
        let mut text = format!("{} {}", operation.kind.label(), operation.subject);
        if let Some(with) = operation.with {
            text = format!("{text} to {}", name(with));
        }
        text.trim_end().to_owned()
    }

    fn observe(&self, world: &World) -> Observation {
        let shown = |state: &State| {
            let inbox = state.inbox.iter().map(|message| {
                Observation::Record(vec![(
                    "name".to_owned(),
                    Observation::Text(message.method.to_owned()),
                )])
            });
            Observation::Record(vec![
                ("number".to_owned(), Observation::Int(state.number)),
                ("inbox".to_owned(), Observation::List(inbox.collect())),
            ])
        };
        let existing = world.0.iter().zip(&self.actors);
        Observation::Record(
            existing
                .filter_map(|(state, actor)| Some((actor.name.to_owned(), shown(state.as_ref()?))))
                .collect(),
        )
    }

    fn ending(&self, world: &World) -> Ending {
        let existing = world.0.iter().zip(&self.actors);
        Ending {
            outcome: existing
                .filter_map(|(state, actor)| {
                    Some(format!("{} = {}", actor.name, state.as_ref()?.number))
                })
                .collect(),
            ..Ending::default()
        }
    }
}
