//! Each evaluation rule alone.

use reenact_ambient::at::Rule;
use reenact_multiverse::{Semantics, StepSize};

use crate::program;

/// The rules by which a program that has only one way to go goes, with the actor that applies each.
fn rules(text: &str) -> Vec<(String, Rule)> {
    let program = program(text).with_step_size(StepSize::Rule);
    let mut state = program.initial().remove(0);
    let mut path = Vec::new();
    loop {
        let steps = program.steps(&state);
        let Some(step) = steps.first() else {
            break;
        };
        assert_eq!(steps.len(), 1, "there is one way to go");
        let who = program.name(&state, program.activity(step));
        path.extend(program.rule(&state, step).map(|rule| (who, rule)));
        state = program.take(&state, step);
    }
    path
}

#[track_caller]
fn check(text: &str, expected: &[Rule]) {
    let rules: Vec<Rule> = rules(text).into_iter().map(|(_, rule)| rule).collect();
    assert_eq!(rules, expected);
}

#[test]
fn values_need_no_rule() {
    check("1", &[]);
}

#[test]
fn let_binds_a_variable() {
    check("if: true then: { def x := 1; x }", &[Rule::Let]);
}

#[test]
fn new_object_initialises_its_fields_in_order() {
    check(
        "object: { def a := 1; def b := a }",
        &[
            Rule::NewObject,
            Rule::FieldUpdate,
            Rule::FieldAccess,
            Rule::FieldUpdate,
        ],
    );
}

#[test]
fn new_isolate() {
    check(
        "isolate: { def a := 1 }",
        &[Rule::NewIsolate, Rule::FieldUpdate],
    );
}

#[test]
fn invoke() {
    check("def m() { 1 }; m()", &[Rule::Invoke]);
    check("1 + 2", &[Rule::Invoke]);
    check("{ 1 }.apply()", &[Rule::NewObject, Rule::Invoke]);
}

#[test]
fn field_access_and_update() {
    check("def x; x", &[Rule::FieldAccess]);
    check("def x; x := 2", &[Rule::FieldUpdate]);
    check("def x; this.x", &[Rule::FieldAccess]);
    check("def x; this.x := 2", &[Rule::FieldUpdate]);
}

#[test]
fn make_future() {
    check("makeFuture()", &[Rule::MakeFuture, Rule::NewIsolate]);
}

#[test]
fn local_async_send_and_process_message() {
    check(
        "def m() { 1 }; this<-m()",
        &[Rule::LocalAsyncSend, Rule::ProcessMessage],
    );
}

#[test]
fn process_message_to_future_and_resolve() {
    // A register message to a future of its own, which is then resolved.
    check(
        "def [f, r] := makeFuture(); r.resolve(1); when: f becomes: { |x| x }",
        &[
            Rule::MakeFuture,
            Rule::NewIsolate,
            Rule::Let,
            Rule::FieldUpdate,
            Rule::Let,
            Rule::FieldUpdate,
            // r.resolve(1)
            Rule::FieldAccess,
            Rule::Resolve,
            // when: f becomes: …
            Rule::FieldAccess,
            Rule::NewObject,
            Rule::MakeFuture,
            Rule::LocalAsyncSend,
            // The future has a value already: the block is sent `apply`.
            Rule::ProcessMessageToFuture,
            Rule::LocalAsyncSend,
            Rule::ProcessMessage,
            // What it gives resolves the future of the `when`.
            Rule::Resolve,
        ],
    );
}

#[test]
fn two_way_messages_make_a_future_and_resolve_it() {
    check(
        "def m() { 1 }; this<-m()@FutureMessage",
        &[
            Rule::MakeFuture,
            Rule::LocalAsyncSend,
            Rule::ProcessMessage,
            Rule::Resolve,
        ],
    );
}

#[test]
fn new_actor_and_far_async_send() {
    let text = "def make() { actor: { def m() { 1 } } }; def a := make(); a<-m()";
    let program = program(text).with_step_size(StepSize::Rule);
    let graph = reenact_multiverse::Search::of(&program).run();
    let mut seen: Vec<(String, Rule)> = graph
        .nodes()
        .flat_map(|id| {
            let state = graph.state(id);
            let rule = |step: &_| {
                let who = program.name(state, program.activity(step));
                Some((who, program.rule(state, step)?))
            };
            program
                .steps(state)
                .iter()
                .filter_map(rule)
                .collect::<Vec<_>>()
        })
        .collect();
    seen.sort();
    seen.dedup();
    let expected = [
        ("a", Rule::ProcessMessage),
        ("main", Rule::Invoke),
        ("main", Rule::FieldAccess),
        ("main", Rule::FieldUpdate),
        ("main", Rule::NewActor),
        ("main", Rule::FarAsyncSend),
        ("make", Rule::ProcessMessage),
    ];
    let expected: Vec<(String, Rule)> = expected
        .into_iter()
        .map(|(who, rule)| (who.to_owned(), rule))
        .collect();
    for rule in &seen {
        assert!(expected.contains(rule), "{rule:?} in {seen:?}");
    }
    for rule in [Rule::NewActor, Rule::FarAsyncSend, Rule::ProcessMessage] {
        assert!(
            seen.iter().any(|(_, one)| *one == rule),
            "{rule:?} in {seen:?}"
        );
    }
}
