//! Programs that are too much.

use reenact_multiverse::{Bound, Bounds, Search};

use crate::{Program, explore, program};

#[test]
fn a_program_that_never_ends_is_bounded_and_says_so() {
    let program = program("def n := 0; def go() { n := n + 1; this<-go() }; this<-go()");
    let bounds = Bounds {
        states: Some(1_000),
        ..Bounds::default()
    };
    let graph = Search::of(&program).bounds(bounds).run();
    assert!(graph.len() <= 1_000);
    assert!(!graph.coverage().is_complete());
    assert_eq!(graph.coverage().stopped_by(), [Bound::States(1_000)]);
    assert_eq!(
        graph.livelocks(&program),
        None,
        "nothing is claimed about what was not seen"
    );
}

/// The program has no end and one livelock.
fn check_livelock(program: &Program) {
    let graph = explore(program);
    assert_eq!(graph.ends().count(), 0);
    let livelocks = graph.livelocks(program);
    assert_eq!(livelocks.expect("the search is complete").len(), 1);
}

#[test]
fn a_loop_that_changes_nothing_is_a_livelock() {
    let program = program("while: { true } do: { }");
    check_livelock(&program);
}

#[test]
fn a_program_that_goes_in_circles_has_finitely_many_universes() {
    // Each round makes a future, a resolver and a block, and forgets them.
    let program = program(
        "def makeOther() { actor: { def ask() { 1 } } };
         def other := makeOther();
         def go() {
             when: other<-ask()@FutureMessage becomes: { |x| this<-go() }
         };
         this<-go()",
    );
    check_livelock(&program);
}

#[test]
fn a_space_of_ten_million_universes_stays_within_its_memory() {
    // Seven actors that count to nine each, and meet nobody.
    let actor = "def make() { actor: { def n := 0; def go() { if: n < 9 then: { n := n + 1; this<-go() } } } };";
    let starts: String = (0..7)
        .map(|k| format!("def a{k} := make(); a{k}<-go();"))
        .collect();
    let program = program(&format!("{actor} {starts}"));
    let bytes = 16 << 20;
    let bounds = Bounds {
        bytes: Some(bytes),
        ..Bounds::default()
    };
    let graph = Search::of(&program).bounds(bounds).run();
    assert!(graph.bytes() <= bytes, "{} bytes", graph.bytes());
    assert!(graph.len() > 10_000, "{} universes", graph.len());
    assert_eq!(graph.coverage().stopped_by(), [Bound::Bytes(bytes)]);
}
