//! The debugger on two languages that exist only here.

mod actors;
mod breakpoints;
mod commands;
mod rules;
mod script;
mod session;
mod texts;
mod theorem;

use std::collections::{HashSet, VecDeque};

use reenact_multiverse::{
    Activity, Breakpoint, Breakpoints, Configuration, Debugger, DebuggerMode, PauseCause,
    Semantics, StepSize, step,
};

use actors::{Actor, Actors, Do, at};

/// The program of the paper: client1 doubles 12 and asks for the result, client2 doubles 33.
fn listing() -> Actors {
    let actor =
        |name, inbox: &[&'static str], methods: &[(&'static str, Vec<actors::Act>)]| Actor {
            name,
            exists: true,
            inbox: inbox.to_vec(),
            methods: methods.to_vec(),
        };
    Actors {
        actors: vec![
            actor(
                "main",
                &["run"],
                &[(
                    "run",
                    vec![at(23, Do::Send(2, "start")), at(24, Do::Send(3, "start"))],
                )],
            ),
            actor(
                "math",
                &[],
                &[
                    ("double12", vec![at(4, Do::Set(24))]),
                    ("double33", vec![at(4, Do::Set(66))]),
                    ("getResult", vec![]),
                ],
            ),
            actor(
                "client1",
                &[],
                &[
                    (
                        "start",
                        vec![
                            at(11, Do::Send(1, "double12")),
                            at(12, Do::Ask(1, "getResult", "print")),
                        ],
                    ),
                    ("print", vec![at(13, Do::Set(1))]),
                ],
            ),
            actor(
                "client2",
                &[],
                &[("start", vec![at(18, Do::Send(1, "double33"))])],
            ),
        ],
    }
}

fn breakpoints(texts: &[&str]) -> Breakpoints {
    let parse = |text: &&str| Breakpoint::parse(text).expect("a breakpoint");
    texts.iter().map(parse).collect()
}

/// All configurations in which there is nothing left to do, first come first.
fn run<S: Semantics>(
    debugger: &Debugger<'_, S>,
    from: Vec<Configuration<S::State>>,
) -> Vec<Configuration<S::State>> {
    let (_, ends) = states(debugger, from, usize::MAX).expect("a number of states");
    ends
}

/// The number of states, if they are not too many, and those without steps, first come first.
fn states<S: Semantics>(
    semantics: &S,
    from: Vec<S::State>,
    most: usize,
) -> Option<(usize, Vec<S::State>)> {
    let mut seen: HashSet<_> = from.iter().cloned().collect();
    let mut queue = VecDeque::from(from);
    let mut ends = Vec::new();
    while let Some(state) = queue.pop_front() {
        let steps = semantics.steps(&state);
        for step in &steps {
            let next = semantics.take(&state, step);
            if seen.insert(next.clone()) {
                queue.push_back(next);
            }
        }
        if steps.is_empty() {
            ends.push(state);
        }
        if seen.len() > most {
            return None;
        }
    }
    Some((seen.len(), ends))
}

/// Why and where a configuration waits, in a line.
fn describe<S: Semantics>(base: &S, state: &Configuration<S::State>) -> String {
    let why = match state.mode {
        DebuggerMode::Run => return "the end".to_owned(),
        DebuggerMode::Stopped => return "stopped".to_owned(),
        DebuggerMode::Pause(PauseCause::Breakpoint(number)) => format!("#{number}"),
        DebuggerMode::Pause(PauseCause::Step(name)) => name.to_owned(),
        DebuggerMode::Pause(PauseCause::Command) => "pause".to_owned(),
    };
    let name = |activity| base.name(&state.base, activity);
    let steps = base.steps(&state.base);
    let at = |activity: Activity| {
        let next = steps.iter().find(|step| base.activity(step) == activity);
        let text = next.map_or("idle".to_owned(), |step| {
            base.describe(&state.base, step, &name)
        });
        format!("{} ({text})", name(activity))
    };
    let who: Vec<_> = state.paused().map(at).collect();
    format!("{why}: {}", who.join(", "))
}

/// Where universes wait, without repetition and in the order of the alphabet.
fn places<S: Semantics>(base: &S, states: &[Configuration<S::State>]) -> Vec<String> {
    let mut all: Vec<_> = states.iter().map(|state| describe(base, state)).collect();
    all.sort();
    all.dedup();
    all
}

/// Where universes wait when the program was started with these breakpoints, in both granularities.
fn stops<S: Semantics>(base: &S, texts: &[&str]) -> Vec<String> {
    let breakpoints = breakpoints(texts);
    let [fine, coarse] = [StepSize::Rule, StepSize::Macro].map(|step_size| {
        let debugger = Debugger::new(base, &breakpoints, step_size);
        places(base, &run(&debugger, debugger.initial()))
    });
    assert_eq!(fine, coarse);
    coarse
}

/// The same, after a command in every universe where it applies. What it does not apply to stays.
fn command<S: Semantics>(
    debugger: &Debugger<'_, S>,
    states: Vec<Configuration<S::State>>,
    name: &str,
    activity: u32,
    count: u32,
) -> Vec<Configuration<S::State>> {
    let step = step(name).expect("a step");
    let text = states.into_iter().map(|state| {
        match state.mode {
            DebuggerMode::Pause(_) => debugger.command(&state, step, Activity(activity), count),
            _ => Ok(state.clone()),
        }
        .unwrap_or(state)
    });
    run(debugger, text.collect())
}
