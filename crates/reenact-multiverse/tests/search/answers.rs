//! The questions that a graph answers.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use reenact_multiverse::{
    Graph, Keep, NodeId, NodeKind, Order, Reduction, Search, Semantics, SummaryOutcome, Ways,
};
use reenact_testing::generated;

use crate::{
    counters::Counters,
    toy::{
        self,
        Act::{self, Again, Await, Choose, Send, Work},
        Actor, Here, Toy,
    },
};

fn actor(script: &[Act], handler: &[Act]) -> Actor {
    Actor {
        script: script.to_vec(),
        handler: handler.to_vec(),
    }
}

/// Two that send to the third, which keeps what comes in the order in which it comes.
fn race() -> Toy {
    Toy(vec![
        actor(&[Send(2, 1)], &[]),
        actor(&[Send(2, 2)], &[]),
        actor(&[], &[Work(0)]),
    ])
}

/// Whatever the first chooses, it sends it to itself, and the second waits for it.
fn deadlock() -> Toy {
    Toy(vec![
        actor(&[Choose(0, 1), Send(0, 0)], &[]),
        actor(&[Await], &[]),
    ])
}

/// What is begun again and again leads nowhere.
fn livelock() -> Toy {
    Toy(vec![
        actor(&[Choose(0, 2), Work(0)], &[]),
        actor(&[Work(0), Work(0), Again], &[]),
    ])
}

fn check(actual: impl ToString, expected: Expect) {
    expected.assert_eq(&actual.to_string());
}

fn binomial(n: u128, k: u128) -> u128 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

#[test]
fn counters_have_as_many_universes_and_ways_as_mathematics_says() {
    for (count, top) in [(1, 5), (2, 4), (3, 3), (4, 2), (6, 1)] {
        let counters = Counters::new(count, top);
        let multinomial = (1..=count as u128)
            .map(|n| binomial(n * u128::from(top), u128::from(top)))
            .product();
        for keep in [Keep::Graph, Keep::Tree] {
            let graph = Search::of(&counters).keep(keep).run();
            let states = (top as usize + 1).pow(count as u32);
            assert_eq!(graph.len(), states);
            let edges = count * top as usize * states / (top as usize + 1);
            assert_eq!(graph.edge_count(), edges as u64);
            let outcomes = graph.outcomes(&counters).0;
            assert_eq!(outcomes.len(), 1);
            assert_eq!(outcomes[0].ways, Ways::Exactly(multinomial));
            assert_eq!(outcomes[0].path.len(), count * top as usize);
        }
    }
}

#[test]
fn what_a_reduction_leaves_out_is_counted_where_it_is_known() {
    let counters = Counters::new(3, 3);
    let ways = |reduction| {
        let graph = Search::of(&counters).reduction(reduction).run();
        graph.outcomes(&counters).0[0].ways
    };
    assert_eq!(ways(Reduction::SleepSets), Ways::Exactly(1680));
    assert_eq!(ways(Reduction::Persistent), Ways::AtLeast(1));
}

#[test]
fn too_many_ways_to_count_are_said_to_be_more() {
    // 84! / 21!^4 is about 5 * 10^47.
    let counters = Counters::new(4, 21);
    let graph = Search::of(&counters).keep(Keep::Tree).run();
    let outcomes = graph.outcomes(&counters).0;
    assert_eq!(outcomes[0].ways, Ways::AtLeast(u128::MAX));
    assert!(outcomes[0].to_string().starts_with("end: at least 340282"));
}

#[test]
fn ends_are_grouped_by_what_came_of_them() {
    let toy = race();
    let graph = Search::of(&toy).run();
    check(
        graph.outcomes(&toy),
        expect![[r#"
            end: 3 ways, the shortest of 6 steps
              0
              0
              1
            end: 3 ways, the shortest of 6 steps
              0
              0
              3
        "#]],
    );
}

#[test]
fn an_end_in_which_somebody_waits_is_a_deadlock() {
    let toy = deadlock();
    let graph = Search::of(&toy).run();
    let deadlocks: Vec<_> = graph.deadlocks(&toy).collect();
    assert_eq!(deadlocks, graph.ends().collect::<Vec<_>>());
    check(
        graph.outcomes(&toy),
        expect![[r#"
            deadlock: 1 way, the shortest of 3 steps
              0
              0
              bob waits for a message
            deadlock: 1 way, the shortest of 3 steps
              2
              0
              bob waits for a message
        "#]],
    );
}

#[test]
fn a_cycle_without_a_way_out_is_a_livelock() {
    let toy = livelock();
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        for reduction in [Reduction::None, Reduction::SleepSets] {
            let graph = Search::of(&toy).order(order).reduction(reduction).run();
            let livelocks = graph.livelocks(&toy).expect("every universe is known");
            assert_eq!(
                graph.doomed(&toy).map(|doomed| doomed.len()),
                Some(graph.len())
            );
            assert_eq!(livelocks.len(), 2);
            for livelock in &livelocks {
                assert_eq!(livelock.path.len(), 2);
                assert_eq!(livelock.cycle.nodes.first(), livelock.path.nodes.last());
                assert_eq!(livelock.cycle.nodes.first(), livelock.cycle.nodes.last());
            }
        }
        let reduction = Reduction::Persistent;
        let graph = Search::of(&toy).order(order).reduction(reduction).run();
        assert_eq!(graph.livelocks(&toy), None);
    }
    let graph = Search::of(&toy).run();
    let livelocks = graph.livelocks(&toy).unwrap_or_default();
    let mut text = graph.story(&toy, &livelocks[0].path).to_string();
    text += "and then again and again\n";
    text += &graph.story(&toy, &livelocks[0].cycle).to_string();
    check(
        text,
        expect![[r#"
            1. ann chooses 0 (line 1)
            2. ann works "0" (line 2)
            and then again and again
            1. bob works "0" (line 11)
            2. bob works "0" (line 12)
            3. bob begins again (line 13)
        "#]],
    );
}

#[test]
fn behind_a_cycle_there_are_unboundedly_many_ways() {
    let toy = Toy(vec![
        actor(&[Choose(0, 1), Send(1, 0), Again], &[]),
        actor(&[Await], &[]),
    ]);
    let graph = Search::of(&toy).run();
    let ways = graph.ways(&toy);
    assert_eq!(ways[0], Ways::Exactly(1));
    let last = graph.len() - 1;
    assert_eq!(ways[last], Ways::Unbounded);
    assert_eq!(ways[last].to_string(), "unbounded");
}

#[test]
fn the_nearest_universe_of_a_kind_is_found_by_its_shortest_way() {
    let counters = Counters::new(3, 5);
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        let graph = Search::of(&counters).order(order).run();
        let path = graph.nearest(|_, state| state[1] == 2 && state[2] == 1);
        let path = path.expect("there is one");
        let last = path.last().expect("it ends somewhere");
        assert_eq!((path.len(), &**graph.state(last)), (3, &[0, 2, 1][..]));
        assert_eq!(graph.nearest(|_, state| state[0] == 6), None);
        assert_eq!(
            graph
                .nearest(|id, _| id == NodeId(0))
                .map(|path| path.len()),
            Some(0)
        );
    }
}

#[test]
fn a_way_is_reported_line_by_line() {
    let toy = race();
    let graph = Search::of(&toy).run();
    let end = graph.ends().next().expect("there is an end");
    check(
        graph.story(&toy, &graph.path(end)),
        expect![[r#"
            1. ann sends 1 to cyd (line 1)
            2. bob sends 2 to cyd (line 11)
            3. cyd begins a turn (line 21)
            4. cyd works "0" (line 21)
            5. cyd begins a turn (line 22)
            6. cyd works "0" (line 21)
        "#]],
    );
}

#[test]
fn a_picture_shows_ends_deadlocks_and_stops() {
    let toy = deadlock();
    let graph = Search::of(&toy).run();
    check(
        graph.dot(&toy),
        expect![[r#"
            digraph multiverse {
              node [style=filled, shape=circle, fontname="sans-serif"];
              edge [fontname="sans-serif", fontsize=10];
              label="7 universes, complete";
              0 [fillcolor=lightblue];
              1 [fillcolor=lightblue];
              2 [fillcolor=lightblue];
              3 [fillcolor=lightblue];
              4 [fillcolor=lightblue];
              5 [fillcolor=darkred, fontcolor=white, shape=doublecircle];
              6 [fillcolor=darkred, fontcolor=white, shape=doublecircle];
              0 -> 1 [label="ann chooses 0"];
              0 -> 2 [label="ann chooses 1"];
              1 -> 3 [label="ann sends 0 to ann"];
              2 -> 4 [label="ann sends 1 to ann"];
              3 -> 5 [label="ann begins a turn"];
              4 -> 6 [label="ann begins a turn"];
            }
        "#]],
    );
    let toy = race();
    let graph = Search::of(&toy)
        .until(|toy, state| toy.steps(state).len() == 1)
        .run();
    let dot = graph.dot(&toy);
    check(
        dot.lines()
            .skip(3)
            .fold(String::new(), |text, line| text + line + "\n"),
        expect![[r#"
              label="11 universes, complete";
              0 [fillcolor=lightblue];
              1 [fillcolor=lightblue];
              2 [fillcolor=lightblue];
              3 [fillcolor=pink];
              4 [fillcolor=lightblue];
              5 [fillcolor=pink];
              6 [fillcolor=lightblue];
              7 [fillcolor=pink];
              8 [fillcolor=pink];
              9 [fillcolor=pink];
              10 [fillcolor=pink];
              0 -> 1 [label="ann sends 1 to cyd"];
              0 -> 2 [label="bob sends 2 to cyd"];
              1 -> 3 [label="bob sends 2 to cyd"];
              1 -> 4 [label="cyd begins a turn"];
              2 -> 5 [label="ann sends 1 to cyd"];
              2 -> 6 [label="cyd begins a turn"];
              4 -> 7 [label="bob sends 2 to cyd"];
              4 -> 8 [label="cyd works \"0\""];
              6 -> 9 [label="ann sends 1 to cyd"];
              6 -> 10 [label="cyd works \"0\""];
            }
        "#]],
    );
}

#[test]
fn labels_are_escaped_and_short() {
    let toy = Toy(vec![actor(&[Work(1)], &[])]);
    let graph = Search::of(&toy).run();
    assert!(graph.dot(&toy).contains(r#"[label="ann works \"1\""]"#));
}

#[test]
fn a_graph_is_data_for_programs() {
    let toy = deadlock();
    let graph = Search::of(&toy).run();
    assert!(graph.bytes_per_state() > 0.0);
    let (nodes, edges) = graph.nodes_and_edges(&toy);
    let outcome = graph.outcomes(&toy).0.swap_remove(0);
    let story = graph.story(&toy, &outcome.path);
    let outcome = SummaryOutcome::new(outcome, story);
    let coverage = graph.coverage();
    let text = serde_json::to_string(&(coverage, coverage.is_complete(), nodes, edges, outcome))
        .expect("it can be written");
    check(
        text.replace("},", "},\n"),
        expect![[r#"
            ["complete",true,[{"id":0,"kind":"inner","depth":0},
            {"id":1,"kind":"inner","depth":1},
            {"id":2,"kind":"inner","depth":1},
            {"id":3,"kind":"inner","depth":2},
            {"id":4,"kind":"inner","depth":2},
            {"id":5,"kind":"end","depth":3},
            {"id":6,"kind":"end","depth":3}],[{"from":0,"to":1,"label":"ann chooses 0"},
            {"from":0,"to":2,"label":"ann chooses 1"},
            {"from":1,"to":3,"label":"ann sends 0 to ann"},
            {"from":2,"to":4,"label":"ann sends 1 to ann"},
            {"from":3,"to":5,"label":"ann begins a turn"},
            {"from":4,"to":6,"label":"ann begins a turn"}],{"outcome":["0","0"],"errors":[],"waits":[{"who":"bob","what":"a message","site":null}],"deadlock":true,"ends":[5],"ways":"1","path":[0,1,3,5],"story":[{"who":"ann","what":"chooses 0","site":{"line":1,"column":1}},
            {"who":"ann","what":"sends 0 to ann","site":{"line":2,"column":1}},
            {"who":"ann","what":"begins a turn","site":{"line":1,"column":1}}]}]"#]],
    );
}

/// Whether an end can be reached, by trying.
fn reaches_an_end(toy: &Toy, graph: &Graph<Toy>, from: NodeId) -> bool {
    let mut seen = vec![false; graph.len()];
    let mut stack = vec![from];
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        if graph.kind(id) == NodeKind::End {
            return true;
        }
        stack.extend(graph.edges(toy, id).iter().map(|edge| edge.to));
    }
    false
}

/// All ways from a state to an end, one by one. Nothing, if there are too many.
fn count_ways(toy: &Toy, state: &Vec<Here>, end: &Vec<Here>, fuel: &mut u32) -> Option<u128> {
    *fuel = fuel.checked_sub(1)?;
    let here = u128::from(state == end);
    toy.steps(state).iter().try_fold(here, |sum, step| {
        Some(sum + count_ways(toy, &toy.take(state, step), end, fuel)?)
    })
}

proptest! {
    #![proptest_config(generated::config(80))]

    #[test]
    fn the_doomed_are_those_that_reach_no_end_and_every_trap_is_closed(toy in toy::programs()) {
        let bounds = reenact_multiverse::Bounds { states: Some(300), ..Default::default() };
        let graph = Search::of(&toy).bounds(bounds).run();
        let Some(doomed) = graph.doomed(&toy) else {
            prop_assert!(!graph.coverage().is_complete());
            return Ok(());
        };
        for id in graph.nodes() {
            let is_doomed = doomed.binary_search(&id).is_ok();
            prop_assert_eq!(is_doomed, !reaches_an_end(&toy, &graph, id));
        }
        let livelocks = graph.livelocks(&toy).expect("every universe is known");
        prop_assert_eq!(livelocks.is_empty(), doomed.is_empty());
        for livelock in livelocks {
            for &id in &livelock.nodes {
                for edge in graph.edges(&toy, id) {
                    prop_assert!(livelock.nodes.binary_search(&edge.to).is_ok());
                }
            }
            let start = livelock.path.last();
            prop_assert_eq!(livelock.cycle.nodes.first().copied(), start);
            prop_assert_eq!(livelock.cycle.last(), start);
            prop_assert!(!livelock.cycle.is_empty());
            for (pair, step) in livelock.cycle.nodes.windows(2).zip(graph.steps(&toy, &livelock.cycle)) {
                prop_assert_eq!(&toy.take(graph.state(pair[0]), &step), graph.state(pair[1]));
            }
        }
    }

    #[test]
    fn ways_are_as_many_as_there_are_when_tried_one_by_one(toy in toy::programs()) {
        let bounds = reenact_multiverse::Bounds { states: Some(300), ..Default::default() };
        let graph = Search::of(&toy).bounds(bounds).run();
        if !graph.coverage().is_complete() {
            return Ok(());
        }
        let ways = graph.ways(&toy);
        for end in graph.ends().take(3) {
            let mut fuel = 20_000;
            let initial = &toy.initial()[0];
            if let Some(count) = count_ways(&toy, initial, graph.state(end), &mut fuel) {
                prop_assert_eq!(ways[end.0 as usize], Ways::Exactly(count));
            }
        }
    }
}
