//! Every way to search agrees with the plainest one there is.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use reenact_multiverse::{Bounds, Graph, Keep, NodeKind, Order, Reduction, Search, Semantics};
use reenact_testing::generated;

use crate::toy::{self, Here, Toy, ToyStep};

const LARGEST: usize = 4000;

/// What there is to find.
struct Truth {
    states: HashSet<Vec<Here>>,
    edges: u64,
    ends: BTreeSet<Vec<Here>>,
}

/// Nothing if there are too many states for a test.
fn brute_force(toy: &Toy, is_far_enough: impl Fn(&Vec<Here>) -> bool) -> Option<Truth> {
    let mut truth = Truth {
        states: toy.initial().into_iter().collect(),
        edges: 0,
        ends: BTreeSet::new(),
    };
    let mut stack = toy.initial();
    while let Some(state) = stack.pop() {
        if is_far_enough(&state) {
            continue;
        }
        let steps = toy.steps(&state);
        if steps.is_empty() {
            truth.ends.insert(state.clone());
        }
        for step in steps {
            let next = toy.take(&state, &step);
            truth.edges += 1;
            if truth.states.insert(next.clone()) {
                stack.push(next);
            }
        }
        if truth.states.len() > LARGEST {
            return None;
        }
    }
    Some(truth)
}

fn states(graph: &Graph<Toy>) -> HashSet<Vec<Here>> {
    graph.nodes().map(|id| graph.state(id).clone()).collect()
}

fn ends(graph: &Graph<Toy>) -> BTreeSet<Vec<Here>> {
    graph.ends().map(|id| graph.state(id).clone()).collect()
}

/// The steps that the search has taken.
fn steps(toy: &Toy, graph: &Graph<Toy>) -> BTreeSet<ToyStep> {
    let taken = |id| {
        let edges = graph.edges(toy, id).into_iter();
        edges.map(move |edge| graph.step(toy, id, edge.step))
    };
    graph.nodes().flat_map(taken).collect()
}

/// The step after each state of a path leads to the next state.
fn check_path(toy: &Toy, graph: &Graph<Toy>, path: &reenact_multiverse::Path) {
    assert_eq!(path.nodes.len(), path.steps.len() + 1);
    for (pair, step) in path.nodes.windows(2).zip(graph.steps(toy, path)) {
        assert_eq!(&toy.take(graph.state(pair[0]), &step), graph.state(pair[1]));
    }
}

proptest! {
    #![proptest_config(generated::config(100))]

    #[test]
    fn every_order_with_any_number_of_cores_finds_what_brute_force_finds(toy in toy::programs()) {
        let Some(truth) = brute_force(&toy, |_| false) else { return Ok(()) };
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            for keep in [Keep::Graph, Keep::Tree] {
                for workers in 1..=3 {
                    let search = Search::of(&toy).order(order).keep(keep).workers(workers);
                    let graph = search.at_any_price().run();
                    prop_assert!(graph.coverage().is_complete());
                    prop_assert_eq!(graph.len(), truth.states.len());
                    prop_assert_eq!(states(&graph), truth.states.clone());
                    prop_assert_eq!(graph.edge_count(), truth.edges);
                    prop_assert_eq!(ends(&graph), truth.ends.clone());
                    let edges: usize = graph.nodes().map(|id| graph.edges(&toy, id).len()).sum();
                    prop_assert_eq!(edges as u64, truth.edges);
                }
            }
        }
    }

    #[test]
    fn sleep_sets_visit_every_universe_by_no_more_steps(toy in toy::programs()) {
        let Some(truth) = brute_force(&toy, |_| false) else { return Ok(()) };
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            let search = Search::of(&toy).order(order).reduction(Reduction::SleepSets);
            let graph = search.run();
            prop_assert!(graph.coverage().is_complete());
            prop_assert_eq!(states(&graph), truth.states.clone());
            prop_assert_eq!(ends(&graph), truth.ends.clone());
            prop_assert!(graph.edge_count() <= truth.edges);
        }
    }

    #[test]
    fn persistent_sets_reach_every_end_by_no_more_universes(toy in toy::programs()) {
        let Some(truth) = brute_force(&toy, |_| false) else { return Ok(()) };
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            let search = Search::of(&toy).order(order).reduction(Reduction::Persistent);
            let graph = search.run();
            prop_assert!(graph.coverage().is_complete());
            prop_assert_eq!(ends(&graph), truth.ends.clone());
            prop_assert!(states(&graph).is_subset(&truth.states));
            for end in graph.ends() {
                check_path(&toy, &graph, &graph.path(end));
            }
        }
    }

    /// Nobody is forgotten because others go round in circles.
    #[test]
    fn every_step_is_taken_somewhere_by_a_reduced_search(toy in toy::programs()) {
        if brute_force(&toy, |_| false).is_none() {
            return Ok(());
        }
        let everything = steps(&toy, &Search::of(&toy).run());
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            for reduction in [Reduction::SleepSets, Reduction::Persistent] {
                let graph = Search::of(&toy).order(order).reduction(reduction).run();
                prop_assert_eq!(steps(&toy, &graph), everything.clone());
            }
        }
    }

    #[test]
    fn a_search_stops_where_it_is_asked_to(toy in toy::programs(), line in 0..40_u32) {
        let is_far_enough = |toy: &Toy, state: &Vec<Here>| {
            let mut steps = toy.steps(state).into_iter();
            steps.any(|step| toy.operation(state, &step).site.is_some_and(|site| site.line == line))
        };
        let truth = brute_force(&toy, |state| is_far_enough(&toy, state));
        let Some(truth) = truth else { return Ok(()) };
        let stops = |graph: &Graph<Toy>| graph.of_kind(NodeKind::Stopped).count();
        let expected = truth.states.iter().filter(|state| is_far_enough(&toy, state)).count();
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            let search = || Search::of(&toy).order(order).until(is_far_enough);
            let graph = search().workers(2).at_any_price().run();
            prop_assert_eq!(states(&graph), truth.states.clone());
            prop_assert_eq!(stops(&graph), expected);
            prop_assert!(graph.coverage().has_every_universe());
            for reduction in [Reduction::SleepSets, Reduction::Persistent] {
                let reduced = search().reduction(reduction).run();
                prop_assert_eq!(stops(&reduced) > 0, expected > 0);
                prop_assert!(stops(&reduced) <= expected);
                prop_assert!(!reduced.coverage().has_every_universe());
            }
        }
    }

    #[test]
    fn both_orders_see_the_same_within_a_depth(toy in toy::programs(), depth in 0..8_u32) {
        if brute_force(&toy, |_| false).is_none() {
            return Ok(());
        }
        let bounds = Bounds { depth: Some(depth), ..Bounds::default() };
        let search = || Search::of(&toy).bounds(bounds);
        let wide = search().run();
        let shared = search().workers(2).at_any_price().run();
        prop_assert_eq!(wide.coverage(), shared.coverage());
        for reduction in [Reduction::None, Reduction::SleepSets] {
            for keep in [Keep::Graph, Keep::Tree] {
                let deep = search().order(Order::DepthFirst).keep(keep).reduction(reduction).run();
                prop_assert_eq!(states(&wide), states(&deep));
                prop_assert_eq!(ends(&wide), ends(&deep));
                prop_assert_eq!(wide.coverage().left(), deep.coverage().left());
                if reduction == Reduction::None {
                    prop_assert_eq!(wide.coverage(), deep.coverage());
                    prop_assert_eq!(wide.edge_count(), deep.edge_count());
                }
            }
        }
    }

    #[test]
    fn the_way_to_a_universe_is_a_shortest_one(toy in toy::programs()) {
        if brute_force(&toy, |_| false).is_none() {
            return Ok(());
        }
        let wide = Search::of(&toy).run();
        let deep = Search::of(&toy).order(Order::DepthFirst).run();
        for id in wide.nodes() {
            let path = wide.path(id);
            check_path(&toy, &wide, &path);
            prop_assert_eq!(path.len() as u32, wide.depth(id));
            for edge in wide.edges(&toy, id) {
                prop_assert!(wide.depth(edge.to) <= wide.depth(id) + 1);
            }
            let other = deep.find(wide.state(id)).expect("both find it");
            prop_assert_eq!(deep.path(other).len(), path.len());
            check_path(&toy, &deep, &deep.path(other));
        }
    }
}
