//! The graph that a search has built, and queries on it.
//!
//! A graph stores states and numbers. Only the language can interpret them, so many queries take it as an argument: a
//! graph borrows nothing, and can be kept for as long as needed.

pub(crate) mod chunks;
mod dot;
pub(crate) mod index;
mod livelock;
mod outcomes;
mod paths;
pub(crate) mod store;
mod story;
mod summary;
mod ways;

use std::{fmt, sync::OnceLock};

use serde::Serialize;

use self::{
    chunks::Chunks,
    index::StateHash,
    paths::Shortest,
    store::{NONE, StateStatus, StateStore},
};
pub use self::{
    livelock::Livelock,
    outcomes::{Outcome, Outcomes},
    paths::Path,
    story::{Story, StoryLine},
    summary::{SummaryEdge, SummaryNode, SummaryOutcome},
    ways::Ways,
};
use crate::{Coverage, Semantics};

/// The number of a universe in its graph, in the order in which they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// A step from one universe to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The index of the step among those of the source universe, in the order of [`Semantics::steps`].
    pub step: u32,
    /// The target universe.
    pub to: NodeId,
}

/// What is known of a universe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// It has successors, and they are known.
    Inner,
    /// The program has ended here, or is stuck.
    End,
    /// The search stopped here because of [`Search::until`](crate::Search::until).
    Stopped,
    /// A bound kept the search from expanding it completely.
    Frontier,
}

/// The result of a search.
pub struct Graph<S: Semantics> {
    store: StateStore<S::State>,
    coverage: Coverage,
    /// The first number of each level, if the numbers are in the order of the depth.
    levels: Option<Chunks<u32>>,
    shortest: OnceLock<Shortest>,
}

impl<S: Semantics> Graph<S> {
    pub(crate) fn new(
        store: StateStore<S::State>,
        coverage: Coverage,
        levels: Option<Chunks<u32>>,
    ) -> Self {
        Graph {
            store,
            coverage,
            levels,
            shortest: OnceLock::new(),
        }
    }

    /// How much the search has covered.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The number of universes.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether there is no universe.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of steps that the search has taken, including those to known universes.
    pub fn edge_count(&self) -> u64 {
        self.store.edge_count()
    }

    /// All universes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<S> {
        (0..self.len() as u32).map(NodeId)
    }

    /// The universes that the search started from.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> {
        self.nodes()
            .take_while(|id| self.store.origin(id.0).parent == NONE)
    }

    /// The universe from which this one was first found, and the number of the step there. `None` for the roots.
    pub(crate) fn origin(&self, id: NodeId) -> Option<(NodeId, u32)> {
        let origin = self.store.origin(id.0);
        (origin.parent != NONE).then_some((NodeId(origin.parent), origin.step))
    }

    /// The state of a universe.
    ///
    /// # Panics
    ///
    /// Panics if there is no such universe, as do the other queries about one universe.
    pub fn state(&self, id: NodeId) -> &S::State {
        self.store.state(id.0)
    }

    /// The universe with this state.
    pub fn find(&self, state: &S::State) -> Option<NodeId> {
        self.store.find(StateHash::of(state), state).map(NodeId)
    }

    /// What is known of a universe.
    pub fn kind(&self, id: NodeId) -> NodeKind {
        match self.store.mark(id.0) {
            StateStatus::Seen => NodeKind::Frontier,
            StateStatus::OnPath | StateStatus::Expanded => NodeKind::Inner,
            StateStatus::End => NodeKind::End,
            StateStatus::Stopped => NodeKind::Stopped,
        }
    }

    /// The universes of this kind.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = NodeId> {
        self.nodes().filter(move |&id| self.kind(id) == kind)
    }

    /// The universes without steps.
    pub fn ends(&self) -> impl Iterator<Item = NodeId> {
        self.of_kind(NodeKind::End)
    }

    /// The ends in which an activity waits for something that never happens.
    pub fn deadlocks(&self, semantics: &S) -> impl Iterator<Item = NodeId> {
        self.ends()
            .filter(|&id| !semantics.ending(self.state(id)).waits.is_empty())
    }

    /// The edges of a universe, in the order of the steps. Recomputed if only a tree was stored.
    pub fn edges(&self, semantics: &S, id: NodeId) -> Vec<Edge> {
        if !self.store.has_edges() {
            return self.computed_edges(semantics, id);
        }
        let mut edges = self.kept_edges(id);
        edges.sort_unstable();
        edges
    }

    fn kept_edges(&self, id: NodeId) -> Vec<Edge> {
        let kept = self.store.edges(id.0);
        kept.map(|(step, to)| Edge {
            step,
            to: NodeId(to),
        })
        .collect()
    }

    /// All steps of a universe that lead to a universe of the graph.
    fn computed_edges(&self, semantics: &S, id: NodeId) -> Vec<Edge> {
        if self.kind(id) == NodeKind::Stopped {
            return Vec::new();
        }
        let state = self.state(id);
        let steps = semantics.steps(state);
        let edges = (0..).zip(&steps).filter_map(|(number, step)| {
            let to = self.find(&semantics.take(state, step))?;
            Some(Edge { step: number, to })
        });
        edges.collect()
    }

    /// All steps between universes of the graph, including those that a reduction has omitted.
    fn every_edge(&self, semantics: &S, id: NodeId) -> Vec<Edge> {
        let is_reduced = self.coverage.reduction() != crate::Reduction::None;
        if self.store.has_edges() && !is_reduced {
            self.kept_edges(id)
        } else {
            self.computed_edges(semantics, id)
        }
    }

    /// The memory of the graph in bytes, including what its states own but not what they share.
    pub fn bytes(&self) -> usize {
        let levels = self.levels.as_ref().map_or(0, Chunks::bytes);
        self.store.bytes() + levels
    }

    /// The bytes per universe.
    pub fn bytes_per_state(&self) -> f64 {
        self.bytes() as f64 / self.len().max(1) as f64
    }
}

impl<S: Semantics> fmt::Debug for Graph<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, edges) = (self.len(), self.edge_count());
        write!(
            out,
            "Graph({nodes} nodes, {edges} edges, {})",
            self.coverage
        )
    }
}
