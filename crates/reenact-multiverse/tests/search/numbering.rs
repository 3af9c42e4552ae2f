//! What a search returns does not depend on how many cores did it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use reenact_multiverse::{Edge, Graph, NodeId, NodeKind, Path, Search, Semantics};
use reenact_testing::generated;

use crate::{
    counters::Counters,
    toy::{self, Toy},
};

type Everything<S> = Vec<(<S as Semantics>::State, NodeKind, Vec<Edge>, Path)>;

fn everything<S: Semantics>(semantics: &S, graph: &Graph<S>) -> Everything<S> {
    let about = |id: NodeId| {
        let edges = graph.edges(semantics, id);
        (
            graph.state(id).clone(),
            graph.kind(id),
            edges,
            graph.path(id),
        )
    };
    graph.nodes().map(about).collect()
}

proptest! {
    #![proptest_config(generated::config(60))]

    #[test]
    fn one_to_four_cores_give_the_same_numbers_edges_and_parents(toy in toy::programs()) {
        let bounds = reenact_multiverse::Bounds { states: Some(2000), ..Default::default() };
        let search = |workers| Search::<Toy>::of(&toy).bounds(bounds).workers(workers).at_any_price();
        let alone = search(1).run();
        for workers in 2..=4 {
            let together = search(workers).run();
            prop_assert_eq!(everything(&toy, &together), everything(&toy, &alone));
            prop_assert_eq!(together.coverage(), alone.coverage());
            prop_assert_eq!(together.bytes(), alone.bytes());
        }
    }
}

#[test]
fn a_large_space_gets_the_same_numbers_from_one_to_four_cores() {
    let counters = Counters::new(5, 8);
    let alone = Search::of(&counters).run();
    assert_eq!(alone.len(), 9_usize.pow(5));
    for workers in 2..=4 {
        let together = Search::of(&counters).workers(workers).run();
        assert_eq!(together.len(), alone.len());
        assert_eq!(together.edge_count(), alone.edge_count());
        assert_eq!(together.bytes(), alone.bytes());
        for id in alone.nodes() {
            assert_eq!(together.state(id), alone.state(id));
            assert_eq!(together.edges(&counters, id), alone.edges(&counters, id));
            assert_eq!(together.depth(id), alone.depth(id));
        }
        for id in alone.nodes().step_by(97) {
            assert_eq!(together.path(id), alone.path(id));
            assert_eq!(together.find(alone.state(id)), Some(id));
        }
    }
}

#[test]
fn what_goes_wrong_on_another_core_goes_wrong_for_the_caller() {
    let counters = Counters::new(4, 9);
    let search = Search::of(&counters).workers(3).at_any_price();
    let search = AssertUnwindSafe(search.until(|_, state| {
        assert!(state.iter().sum::<u32>() < 18, "too far");
        false
    }));
    let panic = catch_unwind(|| { search }.0.run().len()).expect_err("it is noticed");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"too far"));
}
