//! A language of actors with just enough in it: local work, choices, messages, waiting, loops.
//!
//! An actor has a script, and when that is over, a handler that runs for each message. It has a register modulo 4. What is
//! sent to an inbox that is full is lost. So every program has finitely many states, and many have cycles.

use proptest::{collection::vec, prelude::*};
use reenact_multiverse::{
    Activity, ActivityKind, Ending, Marked, Observation, Operation, OperationKind, Semantics, Site,
    Wait,
};

const FULL: usize = 3;

/// What an actor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Act {
    /// Changes its register.
    Work(u8),
    /// Adds one of two numbers to its register.
    Choose(u8, u8),
    /// Sends its register, plus a number, to an actor.
    Send(u8, u8),
    /// Waits for a message and adds it to its register.
    Await,
    /// Begins its script again.
    Again,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Actor {
    pub(crate) script: Vec<Act>,
    pub(crate) handler: Vec<Act>,
}

#[derive(Clone, Debug)]
pub(crate) struct Toy(pub(crate) Vec<Actor>);

/// An actor in a state. It is in its script until that is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Here {
    at: u8,
    is_handling: bool,
    register: u8,
    inbox: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    Work(u8),
    Choose(u8),
    Send(u8, u8),
    Await,
    Again,
    /// Takes a message from the inbox, and begins to handle it.
    Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ToyStep {
    who: u8,
    what: What,
}

impl Toy {
    fn next(&self, state: &[Here], who: usize) -> Option<Act> {
        let here = &state[who];
        let code = if here.is_handling {
            &self.0[who].handler
        } else {
            &self.0[who].script
        };
        code.get(here.at as usize).copied()
    }

    fn may_send_to(&self, who: usize, to: u8) -> bool {
        let actor = &self.0[who];
        let mut acts = actor.script.iter().chain(&actor.handler);
        acts.any(|act| matches!(act, Act::Send(other, _) if *other == to))
    }

    fn is_waiting(&self, state: &[Here], who: usize) -> bool {
        self.next(state, who) == Some(Act::Await) && state[who].inbox.is_empty()
    }
}

fn touches_inbox(step: &ToyStep) -> Option<u8> {
    match step.what {
        What::Send(to, _) => Some(to),
        What::Await | What::Turn => Some(step.who),
        _ => None,
    }
}

impl Semantics for Toy {
    type State = Vec<Here>;
    type Step = ToyStep;

    fn initial(&self) -> Vec<Vec<Here>> {
        let here = Here {
            at: 0,
            is_handling: false,
            register: 0,
            inbox: Vec::new(),
        };
        vec![vec![here; self.0.len()]]
    }

    fn steps(&self, state: &Vec<Here>) -> Vec<ToyStep> {
        let mut steps = Vec::new();
        for who in 0..state.len() {
            let mut add = |what| {
                steps.push(ToyStep {
                    who: who as u8,
                    what,
                })
            };
            match self.next(state, who) {
                Some(Act::Work(by)) => add(What::Work(by)),
                Some(Act::Choose(a, b)) => {
                    add(What::Choose(a));
                    if a != b {
                        add(What::Choose(b));
                    }
                }
                Some(Act::Send(to, by)) => add(What::Send(to, (state[who].register + by) % 4)),
                Some(Act::Await) if state[who].inbox.is_empty() => {}
                Some(Act::Await) => add(What::Await),
                Some(Act::Again) => add(What::Again),
                None if state[who].inbox.is_empty() => {}
                None => add(What::Turn),
            }
        }
        steps
    }

    fn take(&self, state: &Vec<Here>, step: &ToyStep) -> Vec<Here> {
        let mut next = state.clone();
        let here = &mut next[step.who as usize];
        here.at += 1;
        match step.what {
            What::Work(by) => here.register = (here.register * 3 + by) % 4,
            What::Choose(by) => here.register = (here.register + by) % 4,
            What::Send(to, value) => {
                let inbox = &mut next[to as usize].inbox;
                if inbox.len() < FULL {
                    inbox.push(value);
                }
            }
            What::Await => here.register = (here.register + here.inbox.remove(0)) % 4,
            What::Again => here.at = 0,
            What::Turn => {
                here.register = (here.register + here.inbox.remove(0)) % 4;
                here.is_handling = true;
                here.at = 0;
            }
        }
        let here = &mut next[step.who as usize];
        let is_idle = if here.is_handling {
            here.at as usize >= self.0[step.who as usize].handler.len()
        } else {
            here.at as usize >= self.0[step.who as usize].script.len()
        };
        if is_idle {
            here.is_handling = true;
            here.at = self.0[step.who as usize].handler.len() as u8;
        }
        next
    }

    fn activity(&self, step: &ToyStep) -> Activity {
        Activity(step.who.into())
    }

    fn dependent(&self, a: &ToyStep, b: &ToyStep) -> bool {
        touches_inbox(a).is_some() && touches_inbox(a) == touches_inbox(b)
    }

    fn is_alone(&self, state: &Vec<Here>, step: &ToyStep) -> bool {
        match touches_inbox(step) {
            None => true,
            Some(inbox) => {
                let mut others = (0..state.len()).filter(|&who| who != step.who as usize);
                others.all(|who| who != inbox as usize && !self.may_send_to(who, inbox))
            }
        }
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &[
            OperationKind::Local,
            OperationKind::MessageSend,
            OperationKind::Turn,
        ]
    }

    fn operation<'a>(&'a self, state: &'a Vec<Here>, step: &ToyStep) -> Operation<'a> {
        let _ = ActivityKind::Actor;
        Operation {
            kind: match step.what {
                What::Send(..) => OperationKind::MessageSend,
                What::Turn => OperationKind::Turn,
                _ => OperationKind::Local,
            },
            activity: self.activity(step),
            subject: "number".into(),
            with: None,
            site: Some(Site {
                line: u32::from(step.who) * 10 + u32::from(state[step.who as usize].at) + 1,
                column: 1,
            }),
            sent_at: None,
            depth: 0,
            marked: false,
        }
    }

    fn activities(&self, state: &Vec<Here>) -> Vec<Activity> {
        (0..state.len() as u32).map(Activity).collect()
    }

    fn mark(&self, state: &Vec<Here>, _: Activity, _: Marked) -> Vec<Here> {
        state.clone()
    }

    fn unmark(&self, state: &Vec<Here>) -> Vec<Here> {
        state.clone()
    }

    fn name(&self, _: &Vec<Here>, activity: Activity) -> String {
        ["ann", "bob", "cyd", "dan"][activity.0 as usize].to_owned()
    }

    fn describe(&self, _: &Vec<Here>, step: &ToyStep, name: &dyn Fn(Activity) -> String) -> String {
        match step.what {
            What::Work(by) => format!("works \"{by}\""),
            What::Choose(by) => format!("chooses {by}"),
            What::Send(to, value) => format!("sends {value} to {}", name(Activity(to.into()))),
            What::Await => "gets what it waits for".to_owned(),
            What::Again => "begins again".to_owned(),
            What::Turn => "begins a turn".to_owned(),
        }
    }

    fn observe(&self, _: &Vec<Here>) -> Observation {
        Observation::Null
    }

    fn ending(&self, state: &Vec<Here>) -> Ending {
        let waiting = (0..state.len()).filter(|&who| self.is_waiting(state, who));
        Ending {
            outcome: state.iter().map(|here| here.register.to_string()).collect(),
            errors: Vec::new(),
            waits: waiting
                .map(|who| Wait {
                    who: self.name(state, Activity(who as u32)),
                    what: "a message".to_owned(),
                    site: None,
                })
                .collect(),
        }
    }
}

fn act(actors: u8, is_looping: bool) -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0..4_u8).prop_map(Act::Work),
        1 => (0..4_u8, 0..4_u8).prop_map(|(a, b)| Act::Choose(a, b)),
        4 => (0..actors, 0..4_u8).prop_map(|(to, by)| Act::Send(to, by)),
        1 => Just(Act::Await),
        u32::from(is_looping) => Just(Act::Again),
    ]
}

/// Programs of two to four actors. Some have loops.
pub(crate) fn programs() -> impl Strategy<Value = Toy> {
    (2..=4_u8, any::<bool>()).prop_flat_map(|(actors, is_looping)| {
        let length = if actors > 2 { 3 } else { 5 };
        let actor = (
            vec(act(actors, is_looping), 0..=length),
            vec(act(actors, false), 0..=2),
        )
            .prop_map(|(script, handler)| Actor { script, handler });
        vec(actor, actors as usize).prop_map(Toy)
    })
}
