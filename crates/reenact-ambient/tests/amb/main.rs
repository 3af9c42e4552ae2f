//! λ_amb and its debugger: the rules one by one, the example of the paper, and generated terms.

mod generated;
mod syntax;

use std::collections::{BTreeSet, HashMap};

use expect_test::expect;
use reenact_ambient::{
    Source,
    amb::{
        Program, Rule, Term,
        debugger::{self, Debugger, Label},
        parse,
    },
};
use reenact_multiverse::{Activity, Ending, Marked, Observation, OperationKind, Semantics};

/// All universes, found in the simplest way.
struct Found<S: Semantics> {
    states: HashMap<S::State, Vec<S::State>>,
}

impl<S: Semantics> Found<S> {
    fn all(semantics: &S) -> Found<S> {
        let mut states = HashMap::new();
        let mut open = semantics.initial();
        while let Some(state) = open.pop() {
            if states.contains_key(&state) {
                continue;
            }
            let steps = semantics.steps(&state);
            let next: Vec<_> = steps
                .iter()
                .map(|step| semantics.take(&state, step))
                .collect();
            open.extend(next.iter().cloned());
            states.insert(state, next);
        }
        Found { states }
    }

    fn edges(&self) -> usize {
        self.states.values().map(Vec::len).sum()
    }

    fn endings(&self, semantics: &S) -> BTreeSet<Ending> {
        let ends = self.states.iter().filter(|(_, next)| next.is_empty());
        ends.map(|(state, _)| semantics.ending(state)).collect()
    }

    fn outcomes(&self, semantics: &S) -> BTreeSet<String> {
        let endings = self.endings(semantics);
        endings
            .into_iter()
            .flat_map(|ending| ending.outcome)
            .collect()
    }
}

fn term(text: &str) -> Term {
    parse(&Source::new("term", text)).unwrap()
}

/// The steps of a term, and what they lead to.
fn steps(text: &str) -> Vec<String> {
    let state = term(text);
    let program = Program::from(state.clone());
    let steps = program.steps(&state).into_iter().map(|step| {
        let name = |activity| program.name(&state, activity);
        let text = program.describe(&state, &step, &name);
        format!("{text}: {}", program.take(&state, &step))
    });
    steps.collect()
}

#[test]
fn add_reduces_a_sum_of_values() {
    assert_eq!(steps("(+ 1 2)"), ["reduces (+ 1 2) to 3: 3"]);
    assert_eq!(steps("(+ 1 -2 4)"), ["reduces (+ 1 -2 4) to 3: 3"]);
    assert_eq!(steps("(+ 1)"), ["reduces (+ 1) to 1: 1"]);
}

#[test]
fn amb_chooses_one_alternative_before_it_is_evaluated() {
    assert_eq!(
        steps("(amb 1 (+ 1 2))"),
        [
            "chooses 1 of (amb 1 (+ 1 2)): 1",
            "chooses (+ 1 2) of (amb 1 (+ 1 2)): (+ 1 2)"
        ]
    );
    assert_eq!(steps("(amb 7)"), ["chooses 7 of (amb 7): 7"]);
}

#[test]
fn equal_alternatives_are_two_steps_to_one_universe() {
    let program = Program::from(term("(amb 1 1)"));
    let found = Found::all(&program);
    assert_eq!((found.states.len(), found.edges()), (2, 2));
}

#[test]
fn a_value_has_no_steps() {
    assert!(steps("5").is_empty());
}

#[test]
fn evaluation_goes_from_left_to_right() {
    assert_eq!(
        steps("(+ 1 (+ (amb 2 3) (amb 4 5)) (amb 6 7))"),
        [
            "chooses 2 of (amb 2 3): (+ 1 (+ 2 (amb 4 5)) (amb 6 7))",
            "chooses 3 of (amb 2 3): (+ 1 (+ 3 (amb 4 5)) (amb 6 7))"
        ]
    );
    assert_eq!(
        steps("(+ (+ 1 2) (+ 3 4))"),
        ["reduces (+ 1 2) to 3: (+ 3 (+ 3 4))"]
    );
}

#[test]
fn a_sum_that_is_too_large_is_an_error() {
    let program = Program::from(term("(+ 9223372036854775807 (amb 0 1))"));
    let endings = Found::all(&program).endings(&program);
    let endings: Vec<_> = endings
        .into_iter()
        .map(|end| (end.outcome, end.errors))
        .collect();
    expect![[r#"
        [
            (
                [],
                [
                    "(+ 9223372036854775807 1) is too large",
                ],
            ),
            (
                [
                    "9223372036854775807",
                ],
                [],
            ),
        ]
    "#]]
    .assert_debug_eq(&endings);
    // It is the sum that matters, not what it is on the way.
    assert_eq!(steps("(+ 9223372036854775807 1 -1)").len(), 1);
}

#[test]
fn the_example_of_the_paper_has_10_universes() {
    let program = Program::from(term("(+ (amb 1 2) (amb 3 4))"));
    let found = Found::all(&program);
    assert_eq!(found.states.len(), 10);
    assert_eq!(found.edges(), 10);
    assert_eq!(
        found.outcomes(&program),
        ["4", "5", "6"].map(String::from).into()
    );
}

#[test]
fn through_the_debugger_it_has_19() {
    let debugger = Debugger(Program::from(term("(+ (amb 1 2) (amb 3 4))")));
    let found = Found::all(&debugger);
    assert_eq!(found.states.len(), 19);
    // Those of the program, and a RESUME from each paused one.
    assert_eq!(found.edges(), 10 + 9);
    assert_eq!(
        found.outcomes(&debugger),
        ["4", "5", "6"].map(String::from).into()
    );
}

#[test]
fn step_pauses() {
    let debugger = Debugger(Program::from(term("(amb 1 2)")));
    let start = debugger.initial().remove(0);
    assert_eq!(start.label, Label::Step);
    let steps = debugger.steps(&start);
    assert_eq!(
        steps,
        [0, 1].map(|which| debugger::Rule::Step(Rule::Amb(which)))
    );
    let next = debugger.take(&start, &steps[1]);
    assert_eq!((next.label, next.base), (Label::Paused, Term::Number(2)));
}

#[test]
fn resume_only_lets_the_program_go_on() {
    let debugger = Debugger(Program::from(term("(amb 1 2)")));
    let paused = debugger::State {
        label: Label::Paused,
        base: term("(amb 1 2)"),
    };
    assert_eq!(debugger.steps(&paused), [debugger::Rule::Resume]);
    let next = debugger.take(&paused, &debugger::Rule::Resume);
    assert_eq!((next.label, next.base), (Label::Step, paused.base));
}

#[test]
fn what_can_be_seen() {
    let debugger = Debugger(Program::from(term("(+ 1 2)")));
    let start = debugger.initial().remove(0);
    let entry = |term: &str, value| {
        let text = Observation::Text(term.to_owned());
        let term =
            Observation::Record(vec![("term".to_owned(), text), ("value".to_owned(), value)]);
        ("main".to_owned(), term)
    };
    assert_eq!(
        debugger.0.observe(&start.base),
        Observation::Record(vec![entry("(+ 1 2)", Observation::Null)])
    );
    let end = debugger.take(&start, &debugger.steps(&start)[0]);
    let label = Observation::Text("PAUSED".to_owned());
    assert_eq!(
        debugger.observe(&end),
        Observation::Record(vec![
            ("debugger".to_owned(), label),
            entry("3", Observation::Int(3))
        ])
    );
}

#[test]
fn a_choice_is_a_choice_and_the_rest_is_local() {
    let program = Program::from(term("(+ (amb 1 2) 3)"));
    assert_eq!(
        program.kinds(),
        [OperationKind::Choice, OperationKind::Local]
    );
    let start = program.initial().remove(0);
    let choice = program.operation(&start, &Rule::Amb(0));
    assert_eq!(
        (choice.kind, &*choice.subject),
        (OperationKind::Choice, "amb")
    );
    let next = program.take(&start, &Rule::Amb(0));
    let sum = program.operation(&next, &Rule::Add);
    assert_eq!((sum.kind, &*sum.subject), (OperationKind::Local, "+"));
    assert_eq!(program.activities(&next), [Activity(0)]);
    assert_eq!(program.mark(&next, Activity(0), Marked::Next), next);
    assert_eq!(program.unmark(&next), next);
}
