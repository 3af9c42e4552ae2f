//! What all pictures for Graphviz have in common: how universes look, and what a label may hold.

/// How every picture begins, after its name.
pub(crate) const OPENING: &str = "{\n  node [style=filled, shape=circle, fontname=\"sans-serif\"];\n  \
     edge [fontname=\"sans-serif\", fontsize=10];\n";

/// What kind of universe is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// One that goes on.
    Inner,
    /// One that nobody has followed.
    Frontier,
    /// One where the search, or a person, has stopped.
    Paused,
    /// One that a person has left alone.
    Left,
    /// An end.
    End,
    /// An end that should not be.
    BadEnd,
}

impl Look {
    pub(crate) fn attributes(self) -> &'static str {
        match self {
            Look::Inner => "fillcolor=lightblue",
            Look::Frontier => "fillcolor=lightblue, style=\"filled,dashed\"",
            Look::Paused => "fillcolor=pink",
            Look::Left => "fillcolor=grey",
            Look::End => "fillcolor=red, fontcolor=white",
            Look::BadEnd => "fillcolor=darkred, fontcolor=white, shape=doublecircle",
        }
    }
}

/// What may stand between quotes. A backslash would begin an escape of Graphviz's own.
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
