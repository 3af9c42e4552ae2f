//! Common parts of all Graphviz output: how universes are drawn, and how labels are escaped.

/// The beginning of every graph, after its name.
pub(crate) const OPENING: &str = "{\n  node [style=filled, shape=circle, fontname=\"sans-serif\"];\n  \
     edge [fontname=\"sans-serif\", fontsize=10];\n";

/// How a universe is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeStyle {
    /// A universe with known successors.
    Inner,
    /// A universe whose steps were not followed.
    Frontier,
    /// A universe where the search or the user has stopped.
    Paused,
    /// A universe that the user has stopped with `stop`.
    Left,
    /// An end.
    End,
    /// An end with a deadlock or an error.
    BadEnd,
}

impl NodeStyle {
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            NodeStyle::Inner => "fillcolor=lightblue",
            NodeStyle::Frontier => "fillcolor=lightblue, style=\"filled,dashed\"",
            NodeStyle::Paused => "fillcolor=pink",
            NodeStyle::Left => "fillcolor=grey",
            NodeStyle::End => "fillcolor=red, fontcolor=white",
            NodeStyle::BadEnd => "fillcolor=darkred, fontcolor=white, shape=doublecircle",
        }
    }
}

/// Escapes a label for use in quotes. An unescaped backslash would begin a Graphviz escape.
pub(crate) fn escaped(label: &str) -> String {
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
