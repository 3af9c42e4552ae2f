//! AmbientTalk, by what programs do.

mod bounds;
mod debugging;
mod errors;
mod futures;
mod gallery;
mod generated;
mod ground_truth;
mod language;
mod passing;
mod rules;

use reenact_ambient::{Source, at::Program};
use reenact_multiverse::{Graph, Search, StepSize};

/// A program that is correct.
fn program(text: &str) -> Program {
    match Program::new(Source::new("test.at", text)) {
        Ok(program) => program,
        Err(error) => panic!(
            "{}",
            annotate_snippets::Renderer::plain().render(&[error.report()])
        ),
    }
}

/// All that a program can do.
fn explore(program: &Program) -> Graph<Program> {
    let graph = Search::of(program).run();
    assert!(graph.coverage().is_complete());
    graph
}

/// Every way in which a program can end, a line each, in the order of their texts.
fn ends(program: &Program) -> Vec<String> {
    outcomes(program, &explore(program))
}

fn outcomes(program: &Program, graph: &Graph<Program>) -> Vec<String> {
    let mut all: Vec<String> = graph
        .outcomes(program)
        .0
        .iter()
        .map(|outcome| {
            // Most tests are about what main has.
            outcome.ending.lines().join("; ").replace("main.", "")
        })
        .collect();
    all.sort();
    all
}

/// The program ends in exactly these ways, in whatever steps it goes.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(ends(&program(text)), expected);
    let single = program(text).with_step_size(StepSize::Rule);
    assert_eq!(ends(&single), expected, "rule by rule");
}
