//! Paths through the graph: the shortest to a universe, and to the nearest universe that satisfies a predicate.

use std::collections::VecDeque;

use super::{
    Graph, NodeId,
    store::{NONE, Origin},
};
use crate::Semantics;

/// A path from one universe to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The universes on the path, including the first and the last.
    pub nodes: Vec<NodeId>,
    /// The steps between them, each as its index among the steps of its source universe. One fewer than `nodes`.
    pub steps: Vec<u32>,
}

impl Path {
    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether the path has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The last universe.
    pub fn last(&self) -> Option<NodeId> {
        self.nodes.last().copied()
    }
}

/// The predecessor of each state on a shortest known path, and the length of that path.
pub(super) struct Shortest {
    origins: Vec<Origin>,
    depths: Vec<u32>,
}

impl<S: Semantics> Graph<S> {
    fn shortest(&self) -> &Shortest {
        self.shortest.get_or_init(|| {
            if self.store.has_edges() {
                self.shortest_by_edges()
            } else {
                self.shortest_in_tree()
            }
        })
    }

    fn shortest_by_edges(&self) -> Shortest {
        let mut origins: Vec<_> = (0..self.len() as u32)
            .map(|id| self.store.origin(id))
            .collect();
        let mut depths = vec![NONE; self.len()];
        let mut queue = VecDeque::new();
        for root in self.roots() {
            depths[root.0 as usize] = 0;
            queue.push_back(root);
        }
        while let Some(from) = queue.pop_front() {
            let mut edges = self.kept_edges(from);
            edges.sort_unstable();
            for edge in edges {
                if depths[edge.to.0 as usize] == NONE {
                    depths[edge.to.0 as usize] = depths[from.0 as usize] + 1;
                    origins[edge.to.0 as usize] = Origin {
                        parent: from.0,
                        step: edge.step,
                    };
                    queue.push_back(edge.to);
                }
            }
        }
        Shortest { origins, depths }
    }

    /// In a tree there is one path to each state, and its parent has a smaller number.
    fn shortest_in_tree(&self) -> Shortest {
        let mut depths: Vec<u32> = Vec::with_capacity(self.len());
        let mut origins = Vec::with_capacity(self.len());
        for id in 0..self.len() as u32 {
            let origin = self.store.origin(id);
            let before = depths.get(origin.parent as usize);
            depths.push(before.map_or(0, |depth| depth + 1));
            origins.push(origin);
        }
        Shortest { origins, depths }
    }

    /// The number of steps from the start to a universe.
    pub fn depth(&self, id: NodeId) -> u32 {
        match &self.levels {
            Some(levels) => (levels.partition_point(|&first| first <= id.0) as u32).max(1) - 1,
            None => self.shortest().depths[id.0 as usize],
        }
    }

    /// A shortest path from the start to a universe, of those that the search has found. If only a tree was stored and
    /// the search was not breadth first, this is the path by which it was found.
    pub fn path(&self, id: NodeId) -> Path {
        let mut nodes = vec![id];
        let mut steps = Vec::new();
        let mut at = id.0;
        loop {
            let origin = match &self.levels {
                Some(_) => self.store.origin(at),
                None => self.shortest().origins[at as usize],
            };
            if origin.parent == NONE {
                break;
            }
            steps.push(origin.step);
            nodes.push(NodeId(origin.parent));
            at = origin.parent;
        }
        nodes.reverse();
        steps.reverse();
        Path { nodes, steps }
    }

    /// The path to the nearest universe that satisfies `is_it`. Among equally near ones, the first found.
    pub fn nearest(&self, is_it: impl Fn(NodeId, &S::State) -> bool) -> Option<Path> {
        let mut fitting = self.nodes().filter(|&id| is_it(id, self.state(id)));
        let nearest = match &self.levels {
            Some(_) => fitting.next(),
            None => fitting.min_by_key(|&id| self.depth(id)),
        };
        nearest.map(|id| self.path(id))
    }

    /// The steps of a path.
    pub fn steps(&self, semantics: &S, path: &Path) -> Vec<S::Step> {
        let from = path.nodes.iter().zip(&path.steps);
        from.map(|(&node, &step)| self.step(semantics, node, step))
            .collect()
    }

    /// A step of a universe, by index.
    pub fn step(&self, semantics: &S, node: NodeId, step: u32) -> S::Step {
        semantics.steps(self.state(node)).swap_remove(step as usize)
    }
}
