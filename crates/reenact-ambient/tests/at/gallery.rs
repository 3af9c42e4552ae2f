//! The gallery: every program of `examples/ambient` ends as its first lines say.

use expect_test::{Expect, expect};
use reenact_multiverse::{Bounds, Reduction, Search};

use crate::{explore, outcomes, program};

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("../../examples/ambient/{name}.at"))
        .expect("the example is there")
}

fn check(name: &str, expected: Expect) {
    let program = program(&read(name));
    let graph = explore(&program);
    let mut text = format!("{} universes\n", graph.len());
    for outcome in outcomes(&program, &graph) {
        text += &outcome;
        text += "\n";
    }
    for livelock in graph.livelocks(&program).expect("the search is complete") {
        text += &format!("livelock of {} steps\n", livelock.cycle.len());
    }
    expected.assert_eq(&text);
    // All that is in the table, the graph and the states: an idea of what a large program takes.
    assert!(
        graph.bytes_per_state() <= 400.0,
        "{} bytes",
        graph.bytes_per_state()
    );

    let reduced = Search::of(&program).reduction(Reduction::Persistent).run();
    assert_eq!(
        outcomes(&program, &reduced),
        outcomes(&program, &graph),
        "reduced"
    );
}

#[test]
fn bad_interleaving() {
    check(
        "bad-interleaving",
        expect![[r#"
        657 universes
        account.balance = -30
        account.balance = 30
        account.balance = 40
    "#]],
    );
}

#[test]
fn behavioural_deadlock() {
    check(
        "behavioural-deadlock",
        expect![[r#"
        165 universes
        shop.ordered = true; shop.early = 0; customer.received = "a parcel"
        shop.ordered = true; shop.early = 1; customer.received = null; customer waits for the answer to order (line 31)
    "#]],
    );
}

#[test]
fn communication_deadlock() {
    check(
        "communication-deadlock",
        expect![[r#"
        102 universes
        client.permit = null; server waits for the answer to getName (line 21); client waits for the answer to permit (line 9)
    "#]],
    );
}

#[test]
fn livelock() {
    check(
        "livelock",
        expect![[r#"
        92 universes
        anna.side = "left"; anna.hasPassed = true; bert.side = "right"; bert.hasPassed = true
        livelock of 8 steps
        livelock of 8 steps
    "#]],
    );
}

#[test]
fn memory_inconsistency() {
    check(
        "memory-inconsistency",
        expect![[r#"
        340 universes
        replica1.colour = "blue"; replica2.colour = "blue"
        replica1.colour = "blue"; replica2.colour = "red"
        replica1.colour = "red"; replica2.colour = "blue"
        replica1.colour = "red"; replica2.colour = "red"
    "#]],
    );
}

#[test]
fn message_order() {
    check(
        "message-order",
        expect![[r#"
        34 universes
        logger.isOpen = true; logger.entries = ["started"]
        logger.isOpen = true; logger.entries = []; error: logger: the log is not open
    "#]],
    );
}

#[test]
fn listing1() {
    check(
        "listing1",
        expect![[r#"
        270 universes
        math.result = 24; client1 prints 24
        math.result = 66; client1 prints 24
        math.result = 66; client1 prints 66
    "#]],
    );
}

#[test]
fn order_of_messages() {
    check(
        "order-of-messages",
        expect![[r#"
        34 universes
        order = [1, 2, 3]
        order = [1, 3, 2]
        order = [3, 1, 2]
    "#]],
    );
}

#[test]
fn ping_pong() {
    check(
        "ping-pong",
        expect![[r#"
        27 universes
        ping.rounds = 3
    "#]],
    );
}

#[test]
fn philosophers() {
    check(
        "philosophers",
        expect![[r#"
        27038 universes
        fork1.isTaken = false; fork1.next = null; fork2.isTaken = false; fork2.next = null; fork3.isTaken = false; fork3.next = null; philosopher1.forks = 2; philosopher1.meals = 1; philosopher2.forks = 2; philosopher2.meals = 1; philosopher3.forks = 2; philosopher3.meals = 1
        fork1.isTaken = true; fork2.isTaken = true; fork3.isTaken = true; philosopher1.forks = 1; philosopher1.meals = 0; philosopher2.forks = 1; philosopher2.meals = 0; philosopher3.forks = 1; philosopher3.meals = 0; philosopher1 waits for the future of line 27 (line 36); philosopher2 waits for the future of line 27 (line 36); philosopher3 waits for the future of line 27 (line 36)
    "#]],
    );
}

#[test]
fn five_philosophers_eat_or_all_wait() {
    // All its universes, some twenty million, are explored by the benchmark `ambient`.
    let program = program(&read("philosophers5"));
    let graph = Search::of(&program)
        .reduction(Reduction::Persistent)
        .bounds(Bounds::default())
        .run();
    assert!(graph.coverage().is_complete());
    let all = graph.outcomes(&program);
    assert_eq!(all.0.len(), 2);
    let deadlock = all
        .0
        .iter()
        .find(|outcome| outcome.is_deadlock())
        .expect("they can all wait");
    assert_eq!(deadlock.ending.waits.len(), 5);
}

#[test]
fn every_program_is_tested() {
    let text = include_str!("gallery.rs");
    for entry in std::fs::read_dir("../../examples/ambient").expect("the examples are there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|extension| extension == "at") {
            let name = path
                .file_stem()
                .expect("it has a name")
                .to_string_lossy()
                .into_owned();
            assert!(
                text.contains(&format!("\"{name}\"")),
                "{name} is not tested"
            );
        }
    }
}

#[test]
fn what_is_found_does_not_depend_on_the_number_of_cores() {
    for name in ["listing1", "message-order"] {
        let seen = |workers: usize| {
            // Read anew: nothing is known beforehand.
            let program = program(&read(name));
            let graph = Search::of(&program).workers(workers).at_any_price().run();
            let outcomes = outcomes(&program, &graph);
            let stories: Vec<String> = graph
                .nodes()
                .map(|id| graph.story(&program, &graph.path(id)).to_string())
                .collect();
            (graph.len(), graph.edge_count(), outcomes, stories)
        };
        let one = seen(1);
        for workers in 2..=4 {
            assert!(seen(workers) == one, "{name} with {workers}");
        }
    }
}
