//! Every bound is respected, and said.

use std::{ops::ControlFlow, time::Duration};

use reenact_multiverse::{
    Bound, Bounds, Graph, Keep, NodeId, NodeKind, Order, Reduction, Search, SearchProgress,
};

use crate::counters::Counters;

const ENDLESS: Counters = Counters {
    count: 2,
    top: None,
};

const EVERY_WAY: [(Order, Reduction); 6] = [
    (Order::BreadthFirst, Reduction::None),
    (Order::BreadthFirst, Reduction::SleepSets),
    (Order::BreadthFirst, Reduction::Persistent),
    (Order::DepthFirst, Reduction::None),
    (Order::DepthFirst, Reduction::SleepSets),
    (Order::DepthFirst, Reduction::Persistent),
];

fn states(states: usize) -> Bounds {
    Bounds {
        states: Some(states),
        ..Bounds::default()
    }
}

fn depth(depth: u32) -> Bounds {
    Bounds {
        depth: Some(depth),
        ..Bounds::default()
    }
}

fn bytes(bytes: usize) -> Bounds {
    Bounds {
        bytes: Some(bytes),
        ..Bounds::default()
    }
}

fn left(graph: &Graph<Counters>) -> usize {
    graph.of_kind(NodeKind::Frontier).count()
}

#[test]
fn a_program_that_never_ends_is_bounded_by_the_number_of_universes() {
    for (order, reduction) in EVERY_WAY {
        for keep in [Keep::Graph, Keep::Tree] {
            let search = Search::of(&ENDLESS).order(order).reduction(reduction);
            let graph = search.keep(keep).bounds(states(5000)).run();
            assert_eq!(graph.len(), 5000);
            assert_eq!(graph.coverage().stopped_by(), [Bound::States(5000)]);
            assert_eq!(graph.coverage().left(), left(&graph));
            assert!(left(&graph) > 0);
            assert!(!graph.coverage().is_complete());
            assert_eq!(graph.livelocks(&ENDLESS), None);
        }
    }
    let graph = Search::of(&ENDLESS).bounds(states(5000)).run();
    assert_eq!(
        graph.coverage().to_string(),
        "stopped at 5000 universes; 100 universes were seen and not expanded"
    );
}

#[test]
fn a_bound_that_is_just_large_enough_is_not_met() {
    let counters = Counters::new(3, 3);
    for (order, reduction) in EVERY_WAY {
        let search = || Search::of(&counters).order(order).reduction(reduction);
        let graph = search().run();
        let exact = Bounds {
            depth: Some(9),
            ..states(graph.len())
        };
        let bounded = search().bounds(exact).run();
        assert!(bounded.coverage().is_complete(), "{:?}", bounded.coverage());
        assert_eq!(bounded.len(), graph.len());
        let bounded = search().bounds(states(graph.len() - 1)).run();
        assert_eq!(bounded.len(), graph.len() - 1);
        assert!(!bounded.coverage().is_complete());
    }
}

#[test]
fn depth_is_bounded_and_what_is_too_deep_is_counted() {
    for order in [Order::BreadthFirst, Order::DepthFirst] {
        let graph = Search::of(&ENDLESS).order(order).bounds(depth(10)).run();
        assert_eq!(graph.len(), 66);
        assert_eq!(
            graph.coverage().to_string(),
            "stopped after 10 steps in a row; 11 universes were seen and not expanded"
        );
        assert_eq!(graph.nodes().map(|id| graph.depth(id)).max(), Some(10));
    }
}

#[test]
fn a_bound_that_is_zero_stops_at_once() {
    let bounds = Bounds {
        time: Some(Duration::ZERO),
        ..Bounds::default()
    };
    for (order, reduction) in EVERY_WAY {
        let search = || Search::of(&ENDLESS).order(order).reduction(reduction);
        let graph = search().bounds(bounds).run();
        assert_eq!(graph.coverage().stopped_by(), [Bound::Time(Duration::ZERO)]);
        assert_eq!((graph.len(), graph.coverage().left()), (1, 1));
        assert_eq!(search().bounds(states(0)).run().len(), 0);
        assert_eq!(search().bounds(bytes(0)).run().len(), 0);
        let graph = search().bounds(depth(0)).run();
        assert_eq!((graph.len(), graph.coverage().left()), (1, 1));
    }
}

#[test]
fn two_bounds_that_are_met_are_both_said() {
    let bounds = Bounds {
        depth: Some(2),
        ..states(5)
    };
    let order = Order::DepthFirst;
    let graph = Search::of(&ENDLESS).order(order).bounds(bounds).run();
    assert_eq!(
        graph.coverage().to_string(),
        "stopped after 2 steps in a row and at 5 universes; \
         3 universes were seen and not expanded"
    );
}

#[test]
fn bytes_are_bounded_by_the_same_universe_for_any_number_of_cores() {
    let counters = Counters::new(5, 9);
    for keep in [Keep::Graph, Keep::Tree] {
        let mut found = Vec::new();
        for workers in 1..=3 {
            let search = Search::of(&counters).keep(keep).workers(workers);
            let graph = search.bounds(bytes(3_000_000)).run();
            assert!(graph.bytes() <= 3_000_000);
            assert_eq!(graph.coverage().stopped_by(), [Bound::Bytes(3_000_000)]);
            found.push((graph.len(), graph.bytes(), graph.coverage().left()));
        }
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}

#[test]
fn whoever_listens_hears_from_it_and_can_make_it_stop() {
    for (order, reduction) in EVERY_WAY {
        let mut heard = Vec::new();
        let search = Search::of(&ENDLESS).order(order).reduction(reduction);
        let graph = search
            .progress(|progress| {
                heard.push(progress);
                if heard.len() == 3 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
            .run();
        assert_eq!(graph.coverage().stopped_by(), [Bound::Cancelled]);
        assert!(
            graph
                .coverage()
                .to_string()
                .starts_with("stopped when it was cancelled; ")
        );
        let start = SearchProgress {
            states: 1,
            frontier: 1,
            depth: 0,
        };
        assert_eq!(heard[0], start);
        assert!(heard[1].states > 1 && heard[2].states > heard[1].states);
        assert!(graph.len() >= heard[2].states);
    }
}

#[test]
fn a_search_starts_from_the_states_it_is_given() {
    let counters = Counters::new(2, 9);
    let start = |a, b| Box::from([a, b]);
    let from = vec![start(9, 8), start(8, 9), start(9, 8)];
    for (order, reduction) in EVERY_WAY {
        let search = Search::of(&counters).order(order).reduction(reduction);
        let graph = search.from(from.clone()).run();
        assert_eq!(graph.roots().collect::<Vec<_>>(), [NodeId(0), NodeId(1)]);
        assert_eq!((graph.len(), graph.edge_count()), (3, 2));
        assert_eq!(graph.depth(NodeId(2)), 1);
    }
}

#[test]
fn a_reduced_search_says_that_it_is_one() {
    let counters = Counters::new(3, 3);
    let says = |reduction| {
        let graph = Search::of(&counters).reduction(reduction).run();
        (
            graph.coverage().to_string(),
            graph.len(),
            graph.edge_count(),
        )
    };
    let complete = |text: &str| format!("complete{text}");
    assert_eq!(says(Reduction::None), (complete(""), 64, 144));
    let text = complete("; reduced: every universe, not every step");
    assert_eq!(says(Reduction::SleepSets), (text, 64, 63));
    let text = complete("; reduced: every end, not every universe");
    assert_eq!(says(Reduction::Persistent), (text, 10, 9));
}
