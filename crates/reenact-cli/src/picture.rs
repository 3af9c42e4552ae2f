//! The picture of a session, for Graphviz: how each universe of the moment came about.
//!
//! What they have in common is drawn once. Steps of the program are solid lines, what a person asked for are dashed
//! ones; a universe that is paused is pink, one that has ended red.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use reenact_multiverse::{Event, How, Semantics, Session};

use crate::universe::{is_bad, reason};

/// Draws the ways to all universes of a session.
pub(crate) fn draw<S: Semantics>(out: &mut dyn Write, session: &Session<S>) -> io::Result<()> {
    writeln!(
        out,
        "digraph session {{\n  node [style=filled, shape=circle, fontname=\"sans-serif\", label=\"\", fillcolor=lightblue];\n  \
         edge [fontname=\"sans-serif\", fontsize=10];"
    )?;
    let mut tree = Tree::default();
    let mut looks: HashMap<usize, String> = HashMap::new();
    for group in session.standings().groups {
        let look = look(&group.how);
        let why = escaped(&reason(&group.how));
        for universe in group.universes {
            let Ok(story) = session.story(universe) else {
                continue;
            };
            let place = tree.follow(story);
            let number = universe.to_string();
            looks.insert(
                place,
                format!("label=\"{number}\", tooltip=\"{why}\", {look}"),
            );
        }
    }
    for place in 0..=tree.events.len() {
        let look = looks.get(&place).map_or("", String::as_str);
        writeln!(out, "  n{place} [{look}];")?;
    }
    for (at, (from, event)) in tree.events.iter().enumerate() {
        let to = at + 1;
        let (style, label) = match &event.who {
            Some(who) => ("", format!("{who} {}", event.what)),
            None => (", style=dashed", event.what.clone()),
        };
        writeln!(
            out,
            "  n{from} -> n{to} [label=\"{}\"{style}];",
            escaped(&label)
        )?;
    }
    writeln!(out, "}}")
}

/// Ways from the start, with what they have in common once. The start is number 0, and where an event leads is one
/// more than its own number.
#[derive(Default)]
struct Tree {
    events: Vec<(usize, Event)>,
    next: HashMap<(usize, Option<String>, String), usize>,
}

impl Tree {
    /// Goes a way and returns where it leads.
    fn follow(&mut self, story: Vec<Event>) -> usize {
        let mut place = 0;
        for event in story {
            let step = (place, event.who.clone(), event.what.clone());
            let events = &mut self.events;
            place = *self.next.entry(step).or_insert_with(|| {
                events.push((place, event));
                events.len()
            });
        }
        place
    }
}

fn look(how: &How) -> &'static str {
    match how {
        How::Paused { .. } => "fillcolor=pink",
        How::Ended(ending) if is_bad(ending) => {
            "fillcolor=darkred, fontcolor=white, shape=doublecircle"
        }
        How::Ended(_) => "fillcolor=red, fontcolor=white",
        How::Stopped => "fillcolor=grey",
        How::Running => "fillcolor=lightblue, style=\"filled,dashed\"",
    }
}

/// What may stand between quotes.
fn escaped(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        letter if letter.is_control() => " ".to_owned(),
        letter => letter.to_string(),
    });
    letters.collect()
}
