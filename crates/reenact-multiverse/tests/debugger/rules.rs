//! Each rule applies where its premises hold, alone, and does what the paper says.

use std::collections::{BTreeSet, HashSet, VecDeque};

use expect_test::expect;
use reenact_multiverse::{
    Activity, ActivityRecord, ActivityState, Configuration, Debugger, DebuggerCommand,
    DebuggerMode, OperationKind as Op, Point, Rule, Semantics, StepSize, steps,
};

use crate::{
    actors::{Actor, Actors, Do, Way, World, at},
    breakpoints,
    breakpoints::everything,
    listing,
};

type State = Configuration<World>;

/// Equal futures are equal configurations: when everything is checked, nothing is left of what was done, and a receiver
/// is not saved twice.
fn remembers_nothing_in_vain(state: &State) -> bool {
    let is_hit = |point: &Point| matches!(point, Point::Temporal { hit: Some(_), .. });
    let receivers = |wanted: u32| {
        state.points().filter_map(move |point| match point {
            Point::Receiver {
                breakpoint,
                receiver,
            } if *breakpoint == wanted => Some(*receiver),
            _ => None,
        })
    };
    let are_saved_once = state
        .points()
        .filter_map(Point::breakpoint)
        .all(|number| receivers(number).count() <= 1 || receivers(number).all(|one| one.is_some()));
    state.done.is_empty() && !state.points().any(is_hit) && are_saved_once
}

/// The premises and the conclusion of a rule, as in appendix A.
fn hold(
    base: &impl Semantics<State = World, Step = Way>,
    before: &State,
    rule: &Rule<Way>,
    after: &State,
) {
    let is_running = before.mode == DebuggerMode::Run;
    let head = before.pending.first();
    let everyone = base.activities(&before.base);
    let is_known = |activity: &Activity| before.standing(*activity).is_some();
    let stays = |after: &State| {
        assert_eq!(base.unmark(&before.base), base.unmark(&after.base));
    };
    match rule {
        Rule::CelStepGlobal(step) | Rule::CelStepLocal(step) => {
            assert!(remembers_nothing_in_vain(before));
            assert!(is_running && before.pending.is_empty() && everyone.iter().all(is_known));
            assert!(before.is_free(base.activity(step)));
            assert!(after.checked.is_empty() && after.mode == DebuggerMode::Run);
            assert_eq!(after.pending.len(), before.checked.len());
            assert_eq!(after.base, base.take(&before.base, step));
            let is_global = matches!(
                base.operation(&before.base, step).kind,
                Op::MessageSend | Op::PromiseSend | Op::Create | Op::Resolve
            );
            assert_eq!(is_global, matches!(rule, Rule::CelStepGlobal(_)));
            return;
        }
        Rule::TriggerMsb(number) | Rule::TriggerAfter(number) => {
            assert!(is_running && head == Some(&Point::User(*number)));
            assert!(matches!(after.mode, DebuggerMode::Pause(_)) && after.paused().count() > 0);
            assert!(after.checked.contains(&Point::User(*number)));
        }
        Rule::TriggerTemporal(number) => {
            let hit = matches!(head, Some(Point::Temporal { breakpoint, hit: Some(_), .. }) if breakpoint == number);
            assert!(is_running && hit && after.paused().count() > 0);
        }
        Rule::SaveMrb {
            breakpoint,
            receiver,
        } => {
            assert!(is_running && head == Some(&Point::User(*breakpoint)));
            let saved = Point::Receiver {
                breakpoint: *breakpoint,
                receiver: *receiver,
            };
            assert!(!before.points().any(|point| *point == saved));
            assert!(after.checked.contains(&saved) && after.mode == DebuggerMode::Run);
        }
        Rule::TriggerMrb(number) => {
            let Some(Point::Receiver {
                breakpoint,
                receiver,
            }) = head
            else {
                panic!("{head:?}")
            };
            assert!(is_running && breakpoint == number);
            let paused: Vec<_> = after.paused().collect();
            assert!(receiver.is_none_or(|receiver| paused.contains(&receiver)));
        }
        Rule::AddNewActor(activity) => {
            assert!(is_running && everyone.contains(activity) && !is_known(activity));
            assert_eq!(after.standing(*activity).unwrap().state, ActivityState::Run);
        }
        Rule::NotApplicableBreakpoint => {
            assert!(is_running && after.mode == DebuggerMode::Run && head.is_some());
            assert_eq!(after.activities, before.activities);
            assert_eq!(after.pending, before.pending[1..]);
            assert_eq!(after.checked.len(), before.checked.len() + 1);
        }
        Rule::PrepareStepNextTurn => {
            assert!(!is_running && matches!(before.commands[0], DebuggerCommand::Step(_)));
            assert!(
                after.mode == DebuggerMode::Run
                    && matches!(after.commands[0], DebuggerCommand::Stepping(_))
            );
            let counted =
                |(_, one): &(_, ActivityRecord)| matches!(one.state, ActivityState::Step(_));
            assert_eq!(
                after.activities.iter().filter(|one| counted(one)).count(),
                1
            );
        }
        Rule::TriggerStepNextTurn => {
            let DebuggerCommand::Stepping(target) = &before.commands[0] else {
                panic!("{before:?}")
            };
            assert_eq!(
                before.standing(target.activity).unwrap().state,
                ActivityState::Step(0)
            );
            assert!(is_running && after.commands.is_empty());
            assert!(after.paused().any(|one| one == target.activity));
        }
        Rule::PrepareStep => {
            assert!(!is_running && matches!(before.commands[0], DebuggerCommand::Step(_)));
            assert!(
                after.mode == DebuggerMode::Run
                    && matches!(after.pending.last(), Some(Point::Goal(_)))
            );
        }
        Rule::TriggerStep => {
            assert!(is_running && matches!(head, Some(Point::Goal(_))));
            assert!(!after.points().any(|point| matches!(point, Point::Goal(_))));
            assert!(after.paused().count() > 0);
        }
        Rule::ReleaseHold => {
            assert!(is_running && before.pending.is_empty());
            let next = base.steps(&before.base);
            assert!(!next.iter().any(|step| before.is_free(base.activity(step))));
        }
        Rule::ResumeExecution => {
            assert_eq!(before.commands[0], DebuggerCommand::Resume);
            assert!(after.mode == DebuggerMode::Run);
            assert!(after.activities.iter().all(|(_, one)| one.state.is_free()));
            let is_held = |one: &(_, ActivityRecord)| one.1.state == ActivityState::Hold;
            if !before.activities.iter().any(is_held) {
                assert_eq!(
                    (&after.pending, &after.checked),
                    (&before.pending, &before.checked)
                );
            }
        }
        Rule::PauseExecution => {
            assert!(is_running && before.commands[0] == DebuggerCommand::Pause);
            assert_eq!(after.paused().count(), after.activities.len());
        }
        Rule::StopExecution => assert_eq!(after.mode, DebuggerMode::Stopped),
    }
    stays(after);
}

/// Walks everything, with every command wherever it applies, up to so many configurations.
fn walk(
    base: &impl Semantics<State = World, Step = Way>,
    texts: &[&str],
    seen_rules: &mut BTreeSet<&'static str>,
) {
    let breakpoints = breakpoints(texts);
    let debugger = Debugger::new(base, &breakpoints, StepSize::Rule);
    let mut queue: VecDeque<_> = debugger.initial().into();
    let mut seen: HashSet<_> = queue.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        if seen.len() > 3000 {
            break;
        }
        let rules = debugger.steps(&state);
        let own = rules.iter().filter(|rule| rule.base().is_none()).count();
        assert!(own == 0 || rules.len() == 1, "{rules:?}");
        let mut next = Vec::new();
        for rule in &rules {
            seen_rules.insert(rule.name());
            let taken = debugger.take(&state, rule);
            hold(base, &state, rule, &taken);
            next.push(taken);
        }
        let is_start = seen.len() < 10;
        if own == 0 && (is_start || state.mode != DebuggerMode::Run) {
            for step in steps(base) {
                for (activity, _) in &state.activities {
                    next.extend(debugger.command(&state, step, *activity, 1));
                }
            }
        }
        for one in next {
            if seen.insert(one.clone()) {
                queue.push_back(one);
            }
        }
    }
}

/// To an actor, to another one, through a promise, and again.
fn sends_from_one_line() -> Actors {
    let sends = [
        Do::Send(1, "x"),
        Do::Send(0, "x"),
        Do::Forward(1, "x"),
        Do::Send(1, "x"),
    ];
    let go = sends.map(|does| at(7, does)).to_vec();
    Actors {
        actors: vec![
            Actor::new("a", vec!["go"], vec![("go", go)]),
            Actor::new("b", vec![], vec![]),
        ],
    }
}

#[test]
fn every_rule_applies_where_its_premises_hold_and_alone() {
    let mut rules = BTreeSet::new();
    walk(
        &listing(),
        &["message-sender by client1", "message-receiver at 18"],
        &mut rules,
    );
    walk(
        &everything(),
        &["message-sender ask", "after-turn ask"],
        &mut rules,
    );
    walk(
        &everything(),
        &["temporal any* resolver", "message-receiver at 3"],
        &mut rules,
    );
    walk(
        &sends_from_one_line(),
        &["message-receiver at 7"],
        &mut rules,
    );
    let all: Vec<_> = rules.into_iter().collect();
    expect![[r#"
        ADD-NEW-ACTOR
        CEL-STEP-GLOBAL
        CEL-STEP-LOCAL
        NOT-APPLICABLE-BREAKPOINT
        PAUSE-EXECUTION
        PREPARE-STEP
        PREPARE-STEP-NEXT-TURN
        RELEASE-HOLD
        RESUME-EXECUTION
        SAVE-MRB
        STOP-EXECUTION
        TRIGGER-AFTER
        TRIGGER-MRB
        TRIGGER-MSB
        TRIGGER-STEP
        TRIGGER-STEP-NEXT-TURN
        TRIGGER-TEMPORAL"#]]
    .assert_eq(&all.join("\n"));
}

#[test]
fn breakpoints_are_checked_from_left_to_right_between_two_steps() {
    let base = everything();
    let breakpoints = breakpoints(&["message-sender later", "message-receiver at 2"]);
    let debugger = Debugger::new(&base, &breakpoints, StepSize::Rule);
    let mut state = debugger.initial().remove(0);
    let mut lines = Vec::new();
    while let Some(rule) = debugger.steps(&state).first() {
        let numbers = |points: &[Point]| -> Vec<_> {
            points
                .iter()
                .map(|point| point.breakpoint().unwrap())
                .collect()
        };
        lines.push(format!(
            "{:?} {:?} {}",
            numbers(&state.pending),
            numbers(&state.checked),
            rule.name()
        ));
        state = debugger.take(&state, rule);
    }
    expect![[r#"
        [1, 2] [] NOT-APPLICABLE-BREAKPOINT
        [2] [1] NOT-APPLICABLE-BREAKPOINT
        [] [1, 2] CEL-STEP-LOCAL
        [1, 2] [] NOT-APPLICABLE-BREAKPOINT
        [2] [1] NOT-APPLICABLE-BREAKPOINT
        [] [1, 2] CEL-STEP-GLOBAL
        [1, 2] [] ADD-NEW-ACTOR
        [1, 2] [] NOT-APPLICABLE-BREAKPOINT
        [2] [1] SAVE-MRB
        [2] [1, 2] NOT-APPLICABLE-BREAKPOINT
        [] [1, 2, 2] CEL-STEP-GLOBAL
        [1, 2, 2] [] TRIGGER-MSB"#]]
    .assert_eq(&lines.join("\n"));
}
