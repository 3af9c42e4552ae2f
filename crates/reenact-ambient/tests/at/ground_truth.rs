//! Published numbers.

use reenact_multiverse::Semantics;

use crate::{check, explore, outcomes, program};

fn listing1() -> String {
    std::fs::read_to_string("../../examples/ambient/listing1.at").expect("the example is there")
}

#[test]
fn listing_1_ends_in_three_ways() {
    check(
        &listing1(),
        &[
            "math.result = 24; client1 prints 24",
            "math.result = 66; client1 prints 24",
            "math.result = 66; client1 prints 66",
        ],
    );
}

#[test]
fn listing_1_has_three_end_states_and_no_cycle() {
    let program = program(&listing1());
    let graph = explore(&program);
    assert_eq!(graph.ends().count(), 3);
    assert_eq!((graph.len(), graph.edge_count()), (270, 579));
    assert_eq!(graph.livelocks(&program), Some(Vec::new()));
}

#[test]
fn messages_to_oneself_can_be_overtaken_in_between() {
    // main:  this<-note(1)   this<-note(2)
    // b:            main<-note(3)
    check(
        "def order := 0;
         def note(x) { order := order * 10 + x };
         def makeB() { actor: { def go(main) { main<-note(3) } } };
         def b := makeB();
         b<-go(this);
         this<-note(1);
         this<-note(2)",
        &["order = 123", "order = 132", "order = 312"],
    );
}

#[test]
fn ping_pong_has_one_end() {
    let text = std::fs::read_to_string("../../examples/ambient/ping-pong.at")
        .expect("the example is there");
    check(&text, &["ping.rounds = 3"]);
}

#[test]
fn the_shortest_story_of_the_fault_names_the_interleaving() {
    let program = program(&listing1());
    let graph = explore(&program);
    let outcomes = graph.outcomes(&program);
    let fault = outcomes.0.iter().find(|outcome| {
        outcome
            .ending
            .outcome
            .contains(&"client1 prints 66".to_owned())
    });
    let story = graph.story(&program, &fault.expect("it is reached").path);
    let at_math: Vec<&str> = story
        .0
        .iter()
        .filter(|line| line.who == "math")
        .map(|line| line.what.as_str())
        .collect();
    assert_eq!(
        at_math,
        [
            "begins; result := 0",
            "processes double(12) from client1; result := 24",
            "processes double(33) from client2; result := 66",
            "processes getResult() from client1",
            "answers client1 with 66",
        ]
    );
}

#[test]
fn what_can_be_seen_has_the_inbox() {
    let program = program(&listing1());
    let graph = explore(&program);
    let is_it = |_, state: &_| {
        let seen = program.observe(state);
        let length = |path: &str| match seen.get(path) {
            Some(reenact_multiverse::Observation::List(all)) => all.len(),
            _ => 0,
        };
        length("math.inbox") == 3
    };
    let path = graph
        .nearest(is_it)
        .expect("three messages can wait at once");
    let seen = program.observe(graph.state(path.last().expect("it has a last one")));
    let names: Vec<String> = (0..3)
        .map(|at| {
            seen.get(&format!("math.inbox[{at}].name"))
                .expect("it is there")
                .to_string()
        })
        .collect();
    assert_eq!(names.len(), 3);
    assert_eq!(outcomes(&program, &graph).len(), 3);
}
