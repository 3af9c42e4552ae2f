//! Non-interference, for programs that nobody wrote.

use std::collections::HashSet;

use proptest::prelude::*;
use reenact_multiverse::{
    Debugger, DebuggerMode, Goal, Semantics, StepSize, all_steps, breakpoint,
    check_non_interference, steps,
};
use reenact_testing::generated;

use crate::{
    actors::{Act, Actor, Actors, Do, at},
    breakpoints, command, listing, run,
    script::Script,
    states,
};

const NAMES: [&str; 3] = ["a", "b", "c"];
const METHODS: [&str; 3] = ["m0", "m1", "m2"];

const BREAKPOINTS: [&str; 22] = [
    "message-sender",
    "message-sender m1",
    "message-sender to b",
    "message-receiver",
    "message-receiver at 1",
    "message-receiver m2 at 2",
    "message-receiver by b",
    "before-turn m1",
    "before-turn by a",
    "after-turn",
    "after-turn m2 by b",
    "resolver",
    "resolution",
    "creation",
    "begin",
    "line 1",
    "line 2 by b",
    "message-sender if a.number == 1",
    "after-turn if b.inbox.length > 0",
    "temporal any* message-sender (not before-turn)* before-turn",
    "temporal (before-turn m2) after (before-turn m1) without (after-turn m0)",
    "temporal any* after-turn m1",
];

/// Methods send later ones only, so that every program ends.
fn act(level: usize) -> impl Strategy<Value = Act> {
    let later = move || {
        let methods = METHODS[level + 1..].to_vec();
        proptest::sample::select(match methods.is_empty() {
            true => vec![None],
            false => methods.into_iter().map(Some).collect(),
        })
    };
    let kinds = (0..6u8, 0..3u32, later(), later(), 0..3i64, 0..3u32);
    kinds.prop_map(move |(kind, to, method, callback, number, depth)| {
        let does = match (kind, method, callback) {
            (0, Some(method), _) => Do::Send(to, method),
            (1, Some(method), Some(callback)) => Do::Ask(to, method, callback),
            (2, Some(method), _) => Do::Forward(to, method),
            (3, _, _) => Do::Create(2),
            (4, _, _) => Do::Choose(0, number),
            _ => Do::Set(number),
        };
        Act {
            depth,
            ..at(level as u32, does)
        }
    })
}

fn program() -> impl Strategy<Value = Actors> {
    let script = |level| proptest::collection::vec(act(level), 0..3);
    let methods = move || (script(0), script(1), script(2));
    let all = (methods(), methods(), methods(), 0..2usize, any::<bool>());
    all.prop_map(|(a, b, c, first, third_exists)| {
        let actor = |number: usize, (m0, m1, m2), inbox: &[&'static str]| Actor {
            name: NAMES[number],
            exists: number < 2 || third_exists,
            inbox: inbox.to_vec(),
            methods: METHODS.into_iter().zip([m0, m1, m2]).collect(),
        };
        Actors {
            actors: vec![
                actor(0, a, &["m0"]),
                actor(1, b, &METHODS[first..=first]),
                actor(2, c, &[]),
            ],
        }
    })
}

proptest! {
    #![proptest_config(generated::config(32))]

    #[test]
    fn a_program_does_in_the_debugger_what_it_does_without(
        program in program(),
        texts in proptest::sample::subsequence(BREAKPOINTS.to_vec(), 0..4),
    ) {
        let checked = check_non_interference(&program, &breakpoints(&texts), 300);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}

proptest! {
    #![proptest_config(generated::config(32))]

    /// And whatever is asked for on the way, resuming long enough leads to all ends of the program and to no other.
    #[test]
    fn both_granularities_lead_to_the_same_pauses_and_to_all_ends(
        program in program(),
        texts in proptest::sample::subsequence(BREAKPOINTS.to_vec(), 1..4),
        commands in proptest::collection::vec(
            (proptest::sample::select(all_steps().iter().map(|step| step.name).collect::<Vec<_>>()), 0..3u32, 1..3u32),
            0..4,
        ),
    ) {
        let Some((_, ends)) = states(&program, program.initial(), 150) else {
            return Ok(());
        };
        let ends: HashSet<_> = ends.into_iter().collect();
        let breakpoints = breakpoints(&texts);
        let mut paused = Vec::new();
        for step_size in [StepSize::Rule, StepSize::Macro] {
            let debugger = Debugger::new(&program, &breakpoints, step_size);
            let mut seen = Vec::new();
            let mut universes = run(&debugger, debugger.initial());
            for (name, activity, count) in commands.iter().filter(|(name, ..)| *name != "stop") {
                seen.push(universes.iter().cloned().collect::<HashSet<_>>());
                universes = command(&debugger, universes, name, *activity, *count);
            }
            while universes.iter().any(|one| one.mode != DebuggerMode::Run) {
                seen.push(universes.iter().cloned().collect());
                universes = command(&debugger, universes, "resume", 0, 1);
            }
            let reached: HashSet<_> = universes.iter().map(|one| program.unmark(&one.base)).collect();
            prop_assert_eq!(&reached, &ends);
            paused.push(seen);
        }
        prop_assert_eq!(&paused[0], &paused[1]);
    }
}

proptest! {
    #![proptest_config(generated::config(32))]

    /// Whatever is asked for, who takes a step at which there is a breakpoint was stopped there.
    #[test]
    fn nobody_passes_a_breakpoint_unstopped(
        program in program(),
        kinds in proptest::sample::subsequence(
            vec!["message-sender", "before-turn", "resolver", "begin"], 1..4),
        walks in proptest::collection::vec(proptest::collection::vec(any::<usize>(), 50), 16),
    ) {
        let breakpoints = breakpoints(&kinds);
        let debugger = Debugger::new(&program, &breakpoints, StepSize::Macro);
        for walk in walks {
            let mut state = debugger.initial().remove(0);
            for choice in walk {
                let rules = debugger.steps(&state);
                let mut next: Vec<_> = rules.iter().map(|rule| debugger.take(&state, rule)).collect();
                for step in rules.iter().filter_map(|rule| rule.base()) {
                    let operation = program.operation(&state.base, step);
                    let passing = &state.standing(operation.activity).unwrap().passing;
                    for (number, kind) in (1..).zip(&kinds) {
                        let operations = breakpoint(kind).unwrap().operations;
                        let is_there = operations.contains(&operation.kind);
                        prop_assert!(!is_there || passing.contains(&number), "{:?}", state);
                    }
                }
                for step in steps(&program).filter(|step| step.goal == Goal::Pause || step.goal != Goal::Stop && rules.is_empty()) {
                    for (activity, _) in &state.activities {
                        next.extend(debugger.command(&state, step, *activity, 1));
                    }
                }
                match next.is_empty() {
                    true => break,
                    false => state = next.swap_remove(choice % next.len()),
                }
            }
        }
    }
}

#[test]
fn the_program_of_the_paper_is_not_interfered_with() {
    let checked = check_non_interference(
        &listing(),
        &breakpoints(&["message-receiver by math"]),
        1500,
    );
    checked.unwrap();
}

#[test]
fn locks_channels_and_transactions_are_not_interfered_with() {
    let program = Script::parse(&[
        "create t1, lock l, channel-send c, unlock l, join t1",
        "begin, channel-receive c, lock l, transaction-start, transaction-commit, unlock l",
    ]);
    let texts = ["before-lock", "after-channel-receive", "after-join"];
    let checked = check_non_interference(&program, &breakpoints(&texts), 20_000).unwrap();
    assert!(checked.is_complete);
}
