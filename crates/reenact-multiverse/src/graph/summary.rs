//! The graph as serialisable data.

use serde::Serialize;

use super::{Graph, NodeId, NodeKind, Outcome, Story, Ways};
use crate::{Ending, Semantics};

/// A universe.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryNode {
    /// The number of the universe.
    pub id: NodeId,
    /// What is known of the universe.
    pub kind: NodeKind,
    /// The number of steps from the start.
    pub depth: u32,
}

/// A step.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryEdge {
    /// The source universe.
    pub from: NodeId,
    /// The target universe.
    pub to: NodeId,
    /// A description of the step.
    pub label: String,
}

/// One possible outcome of the program.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryOutcome {
    /// The result.
    #[serde(flatten)]
    pub ending: Ending,
    /// Whether an activity waits for something that never happens.
    pub deadlock: bool,
    /// The universes with this result.
    pub ends: Vec<NodeId>,
    /// The number of paths to any of them, as text.
    pub ways: Ways,
    /// A shortest of these paths, as numbers of universes.
    pub path: Vec<NodeId>,
    /// The same path, described step by step.
    pub story: Story,
}

impl SummaryOutcome {
    /// Combines an outcome with the story of its path.
    pub fn new(outcome: Outcome, story: Story) -> Self {
        SummaryOutcome {
            deadlock: outcome.is_deadlock(),
            ending: outcome.ending,
            ends: outcome.ends,
            ways: outcome.ways,
            path: outcome.path.nodes,
            story,
        }
    }
}

impl<S: Semantics> Graph<S> {
    /// The nodes and edges of the graph.
    pub fn nodes_and_edges(&self, semantics: &S) -> (Vec<SummaryNode>, Vec<SummaryEdge>) {
        let nodes = self.nodes().map(|id| SummaryNode {
            id,
            kind: self.kind(id),
            depth: self.depth(id),
        });
        let edges = self.nodes().flat_map(|from| {
            let edges = self.edges(semantics, from).into_iter();
            edges.map(move |edge| SummaryEdge {
                from,
                to: edge.to,
                label: self.label(semantics, from, edge.step),
            })
        });
        (nodes.collect(), edges.collect())
    }
}
