//! A language of everything but actors: each activity does one operation after the other.

use std::collections::BTreeMap;

use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Semantics,
};

/// What each activity does: an operation, its subject, the other party.
pub(crate) struct Script(pub(crate) Vec<Vec<(OperationKind, &'static str, Option<u32>)>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    done: Vec<Option<usize>>,
    locks: BTreeMap<&'static str, Activity>,
    /// Whether what is in a channel is marked.
    channels: BTreeMap<&'static str, Vec<bool>>,
    marks_next: Option<Activity>,
}

impl Script {
    /// What each activity does, as text: operations by name, each with its subject. With `t1` it is activity 1 that is the
    /// other party.
    pub(crate) fn parse(activities: &[&'static str]) -> Script {
        let operation = |text: &'static str| {
            let (name, subject) = text.split_once(' ').unwrap_or((text, ""));
            let mut kinds = OperationKind::ALL.into_iter();
            let kind = kinds
                .find(|kind| kind.name() == name)
                .unwrap_or_else(|| panic!("no operation is called {name}"));
            let with = subject.strip_prefix('t').and_then(|n| n.parse().ok());
            (kind, subject, with)
        };
        let script = |text: &&'static str| text.split(", ").map(operation).collect();
        Script(activities.iter().map(script).collect())
    }

    fn next(
        &self,
        state: &State,
        activity: Activity,
    ) -> Option<(OperationKind, &'static str, Option<u32>)> {
        let done = state.done[activity.0 as usize]?;
        self.0[activity.0 as usize].get(done).copied()
    }
}

impl Semantics for Script {
    type State = State;
    type Step = Activity;

    fn initial(&self) -> Vec<State> {
        let is_created = |who: usize| {
            self.0
                .iter()
                .flatten()
                .any(|(kind, _, with)| *kind == OperationKind::Create && *with == Some(who as u32))
        };
        vec![State {
            done: (0..self.0.len())
                .map(|who| (!is_created(who)).then_some(0))
                .collect(),
            locks: BTreeMap::new(),
            channels: BTreeMap::new(),
            marks_next: None,
        }]
    }

    fn steps(&self, state: &State) -> Vec<Activity> {
        let can = |activity: &Activity| match self.next(state, *activity) {
            None => false,
            Some((OperationKind::Lock, lock, _)) => !state.locks.contains_key(lock),
            Some((OperationKind::ChannelReceive, channel, _)) => state
                .channels
                .get(channel)
                .is_some_and(|all| !all.is_empty()),
            Some((OperationKind::Join, _, Some(whom))) => {
                state.done[whom as usize] == Some(self.0[whom as usize].len())
            }
            Some(_) => true,
        };
        self.activities(state).into_iter().filter(can).collect()
    }

    fn take(&self, state: &State, step: &Activity) -> State {
        let mut next = state.clone();
        let (kind, subject, with) = self.next(state, *step).expect("it has a step");
        *next.done[step.0 as usize].as_mut().expect("it exists") += 1;
        match (kind, with) {
            (OperationKind::Lock, _) => {
                next.locks.insert(subject, *step);
            }
            (OperationKind::Unlock, _) => {
                next.locks.remove(subject);
            }
            (OperationKind::ChannelSend, _) => {
                let is_marked = next.marks_next == Some(*step);
                next.channels.entry(subject).or_default().push(is_marked);
            }
            (OperationKind::ChannelReceive, _) => {
                next.channels.entry(subject).or_default().remove(0);
            }
            (OperationKind::Create, Some(who)) => next.done[who as usize] = Some(0),
            _ => {}
        }
        if next.marks_next == Some(*step) {
            next.marks_next = None;
        }
        next
    }

    fn activity(&self, step: &Activity) -> Activity {
        *step
    }

    fn dependent(&self, _: &Activity, _: &Activity) -> bool {
        true
    }

    fn kinds(&self) -> &'static [OperationKind] {
        use OperationKind::*;
        &[
            ChannelSend,
            ChannelReceive,
            Create,
            Begin,
            Join,
            TransactionStart,
            TransactionCommit,
            Lock,
            Unlock,
            Local,
            Select,
            ChannelClose,
            Wait,
            Wake,
            Notify,
            AtomicRead,
            AtomicWrite,
            Barrier,
            Question,
            External,
            Choice,
            End,
        ]
    }

    fn operation<'a>(&'a self, state: &'a State, step: &Activity) -> Operation<'a> {
        let (kind, subject, with) = self.next(state, *step).expect("it has a step");
        let marked = kind == OperationKind::ChannelReceive && state.channels[subject][0];
        Operation {
            kind,
            activity: *step,
            subject: subject.into(),
            with: with.map(Activity),
            site: None,
            sent_at: None,
            depth: 0,
            marked,
        }
    }

    fn activities(&self, state: &State) -> Vec<Activity> {
        (0..)
            .zip(&state.done)
            .filter(|(_, done)| done.is_some())
            .map(|(number, _)| Activity(number))
            .collect()
    }

    fn mark(&self, state: &State, activity: Activity, _: Marked) -> State {
        State {
            marks_next: Some(activity),
            ..state.clone()
        }
    }

    fn unmark(&self, state: &State) -> State {
        let mut plain = state.clone();
        plain.marks_next = None;
        for mark in plain.channels.values_mut().flatten() {
            *mark = false;
        }
        plain
    }

    fn name(&self, _: &State, activity: Activity) -> String {
        format!("t{}", activity.0)
    }

    fn describe(&self, state: &State, step: &Activity, _: &dyn Fn(Activity) -> String) -> String {
        let operation = self.operation(state, step);
        format!("{} {}", operation.kind.label(), operation.subject)
    }

    fn observe(&self, state: &State) -> Observation {
        let done = |done: &Option<usize>| Observation::Int(done.unwrap_or(0) as i64);
        Observation::Record(
            (0..)
                .zip(&state.done)
                .map(|(number, one): (u32, _)| (format!("t{number}"), done(one)))
                .collect(),
        )
    }

    fn ending(&self, _: &State) -> Ending {
        Ending::default()
    }
}
