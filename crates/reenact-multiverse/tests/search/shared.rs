//! Threads that share variables. Dependent steps often lead to the same state here (two that write the same value), so
//! that a state is found again with other steps asleep, which no language of messages does.

use std::collections::HashSet;

use proptest::prelude::*;
use reenact_multiverse::{
    Activity, Ending, Marked, Observation, Operation, OperationKind, Order, Reduction, Search,
    Semantics,
};
use reenact_testing::generated;

const VARIABLES: usize = 2;

/// What a thread does at one place of its code.
#[derive(Clone, Copy, Debug)]
enum Code {
    Set(usize, u8),
    Flip(usize),
    /// Goes there if the variable is 0.
    Unless(usize, usize),
}

#[derive(Clone, Debug)]
struct Threads(Vec<Vec<Code>>);

/// Where each thread is, and the variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Memory {
    places: Vec<usize>,
    variables: [u8; VARIABLES],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Access {
    thread: usize,
    place: usize,
    variable: usize,
    writes: bool,
}

impl Semantics for Threads {
    type State = Memory;
    type Step = Access;

    fn initial(&self) -> Vec<Memory> {
        vec![Memory {
            places: vec![0; self.0.len()],
            variables: [0; VARIABLES],
        }]
    }

    fn steps(&self, state: &Memory) -> Vec<Access> {
        let access = |(thread, code): (usize, &Vec<Code>)| {
            let place = state.places[thread];
            let (variable, writes) = match *code.get(place)? {
                Code::Set(variable, _) | Code::Flip(variable) => (variable, true),
                Code::Unless(variable, _) => (variable, false),
            };
            Some(Access {
                thread,
                place,
                variable,
                writes,
            })
        };
        self.0.iter().enumerate().filter_map(access).collect()
    }

    fn take(&self, state: &Memory, step: &Access) -> Memory {
        let mut next = state.clone();
        let mut to = step.place + 1;
        match self.0[step.thread][step.place] {
            Code::Set(variable, value) => next.variables[variable] = value,
            Code::Flip(variable) => next.variables[variable] ^= 1,
            Code::Unless(variable, there) if state.variables[variable] == 0 => to = there,
            Code::Unless(..) => {}
        }
        next.places[step.thread] = to;
        next
    }

    fn activity(&self, step: &Access) -> Activity {
        Activity(step.thread as u32)
    }

    fn dependent(&self, a: &Access, b: &Access) -> bool {
        a.thread == b.thread || (a.variable == b.variable && (a.writes || b.writes))
    }

    fn kinds(&self) -> &'static [OperationKind] {
        &[OperationKind::Local]
    }

    fn operation<'a>(&'a self, _: &'a Memory, step: &Access) -> Operation<'a> {
        Operation {
            kind: OperationKind::Local,
            activity: self.activity(step),
            subject: "variable".into(),
            with: None,
            site: None,
            sent_at: None,
            depth: 0,
            marked: false,
        }
    }

    fn activities(&self, _: &Memory) -> Vec<Activity> {
        (0..self.0.len() as u32).map(Activity).collect()
    }

    fn mark(&self, state: &Memory, _: Activity, _: Marked) -> Memory {
        state.clone()
    }

    fn unmark(&self, state: &Memory) -> Memory {
        state.clone()
    }

    fn name(&self, _: &Memory, activity: Activity) -> String {
        format!("thread {}", activity.0)
    }

    fn describe(&self, _: &Memory, step: &Access, _: &dyn Fn(Activity) -> String) -> String {
        format!("{step:?}")
    }

    fn observe(&self, _: &Memory) -> Observation {
        Observation::Null
    }

    fn ending(&self, state: &Memory) -> Ending {
        Ending {
            outcome: vec![format!("{:?}", state.variables)],
            ..Ending::default()
        }
    }
}

fn threads() -> impl Strategy<Value = Threads> {
    let code = prop_oneof![
        (0..VARIABLES, 0..2u8).prop_map(|(variable, value)| Code::Set(variable, value)),
        (0..VARIABLES).prop_map(Code::Flip),
        (0..VARIABLES, 0..4usize).prop_map(|(variable, to)| Code::Unless(variable, to)),
    ];
    let thread = proptest::collection::vec(code, 1..5);
    proptest::collection::vec(thread, 2..5).prop_map(Threads)
}

proptest! {
    #![proptest_config(generated::config(300))]

    #[test]
    fn states_that_are_found_again_lose_nothing(threads in threads()) {
        let mut truth: HashSet<Memory> = threads.initial().into_iter().collect();
        let mut stack = threads.initial();
        while let Some(state) = stack.pop() {
            for step in threads.steps(&state) {
                let next = threads.take(&state, &step);
                if truth.insert(next.clone()) {
                    stack.push(next);
                }
            }
        }
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            for reduction in [Reduction::SleepSets, Reduction::Persistent] {
                let graph = Search::of(&threads).order(order).reduction(reduction).run();
                let found: HashSet<Memory> = graph.nodes().map(|id| graph.state(id).clone()).collect();
                prop_assert_eq!(&found, &truth, "{:?} {:?}", order, reduction);
            }
        }
    }
}
