//! The graph as a picture, for Graphviz.

use std::fmt::Write;

use super::{Graph, Kind, NodeId};
use crate::Semantics;

/// An edge says no more than this many characters.
const LABEL: usize = 40;

impl<S: Semantics> Graph<S> {
    /// The graph in the language of Graphviz: ends are red, deadlocks dark red with a double line, universes where the
    /// search was told to stop pink, those that it did not get to dashed, all others blue.
    pub fn dot(&self, semantics: &S) -> String {
        let mut dot = String::from(
            "digraph multiverse {\n  node [style=filled, shape=circle, fontname=\"sans-serif\"];\n  \
             edge [fontname=\"sans-serif\", fontsize=10];\n",
        );
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
        match self.kind(id) {
            Kind::End if semantics.ending(self.state(id)).waits.is_empty() => {
                "fillcolor=red, fontcolor=white"
            }
            Kind::End => "fillcolor=darkred, fontcolor=white, shape=doublecircle",
            Kind::Stopped => "fillcolor=pink",
            Kind::Inner => "fillcolor=lightblue",
            Kind::Frontier => "fillcolor=lightblue, style=\"filled,dashed\"",
        }
    }
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= LABEL {
        return label.to_owned();
    }
    label.chars().take(LABEL - 1).chain(['…']).collect()
}

/// What may stand between quotes. A backslash would begin an escape of Graphviz's own.
fn escaped(label: &str) -> String {
    let mut escaped = String::with_capacity(label.len());
    for letter in label.chars() {
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}
