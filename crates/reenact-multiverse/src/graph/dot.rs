//! The graph in Graphviz format.

use std::fmt::Write;

use super::{Graph, NodeId, NodeKind};
use crate::{
    Semantics,
    picture::{NodeStyle, OPENING, escaped},
};

/// The maximum length of an edge label, in characters.
const LABEL: usize = 40;

impl<S: Semantics> Graph<S> {
    /// The graph in Graphviz format: ends are red, deadlocks dark red with a double line, universes where the search
    /// stopped because of [`Search::until`](crate::Search::until) pink, those that it did not expand dashed, all others
    /// blue.
    pub fn dot(&self, semantics: &S) -> String {
        let mut dot = format!("digraph multiverse {OPENING}");
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = writeln!(dot, "  {text}");
        };
        let about = format!("{} universes, {}", self.len(), self.coverage());
        line(format_args!("label=\"{}\";", escaped(&about)));
        for id in self.nodes() {
            line(format_args!("{id} [{}];", self.look(semantics, id)));
        }
        for id in self.nodes() {
            for edge in self.edges(semantics, id) {
                let label = shortened(&self.label(semantics, id, edge.step));
                let to = edge.to;
                line(format_args!(
                    "{id} -> {to} [label=\"{}\"];",
                    escaped(&label)
                ));
            }
        }
        dot.push_str("}\n");
        dot
    }

    fn look(&self, semantics: &S, id: NodeId) -> &'static str {
        let look = match self.kind(id) {
            NodeKind::End if semantics.ending(self.state(id)).waits.is_empty() => NodeStyle::End,
            NodeKind::End => NodeStyle::BadEnd,
            NodeKind::Stopped => NodeStyle::Paused,
            NodeKind::Inner => NodeStyle::Inner,
            NodeKind::Frontier => NodeStyle::Frontier,
        };
        look.attributes()
    }
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}
