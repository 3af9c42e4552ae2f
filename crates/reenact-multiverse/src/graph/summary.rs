//! The graph as data, for programs.

use serde::Serialize;

use super::{Graph, Kind, NodeId, Outcome, Story, Ways};
use crate::{Coverage, Ending, Semantics};

/// A universe.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryNode {
    /// Its number.
    pub id: NodeId,
    /// What is known of it.
    pub kind: Kind,
    /// How many steps it is away from the start.
    pub depth: u32,
}

/// A step.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryEdge {
    /// From here,
    pub from: NodeId,
    /// to there,
    pub to: NodeId,
    /// by this.
    pub label: String,
}

/// One way for the program to turn out.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryOutcome {
    /// How it looks.
    #[serde(flatten)]
    pub ending: Ending,
    /// Whether somebody waits for something that never comes.
    pub deadlock: bool,
    /// The universes that look like this.
    pub ends: Vec<NodeId>,
    /// In how many ways the program gets to one of them, in words.
    pub ways: Ways,
    /// A shortest of these, by numbers of universes.
    pub path: Vec<NodeId>,
    /// The same, told.
    pub story: Story,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What the search has seen, in words.
    pub coverage: Coverage,
    /// Whether it has met no bound.
    pub complete: bool,
    /// The bytes of memory for each universe.
    pub bytes_per_state: f64,
    /// The universes, by number.
    pub nodes: Vec<SummaryNode>,
    /// The steps.
    pub edges: Vec<SummaryEdge>,
    /// What can come of the program.
    pub outcomes: Vec<SummaryOutcome>,
}

impl SummaryOutcome {
    /// An outcome with the way to it, told.
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
    /// All that a program may want to know, ready to be written in whatever format.
    pub fn summary(&self, semantics: &S) -> Summary {
        let (nodes, edges) = self.nodes_and_edges(semantics);
        let outcomes = self.outcomes(semantics).0.into_iter().map(|outcome| {
            let story = self.story(semantics, &outcome.path);
            SummaryOutcome::new(outcome, story)
        });
        Summary {
            coverage: self.coverage().clone(),
            complete: self.coverage().is_complete(),
            bytes_per_state: self.bytes_per_state(),
            nodes,
            edges,
            outcomes: outcomes.collect(),
        }
    }

    /// The graph itself.
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
