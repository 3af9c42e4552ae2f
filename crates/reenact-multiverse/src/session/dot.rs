//! The session in Graphviz format: how each current universe came about.
//!
//! Common prefixes are drawn once. Steps of the program are solid lines, user commands dashed ones; a paused universe
//! is pink, an ended one red.

use std::{collections::HashMap, fmt::Write};

use super::{PathEvent, Session, UniverseStatus};
use crate::{
    Semantics,
    picture::{NodeStyle, OPENING, escaped},
};

impl<S: Semantics> Session<S> {
    /// The paths to all current universes, in Graphviz format.
    pub fn dot(&self) -> String {
        let mut dot = format!("digraph session {OPENING}");
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = writeln!(dot, "  {text}");
        };
        let mut tree = Tree::default();
        let mut looks: HashMap<usize, String> = HashMap::new();
        for group in self.overview().groups {
            let look = look(&group.how).attributes();
            let why = escaped(&group.how.reason());
            for universe in group.universes {
                let Ok(story) = self.story(universe) else {
                    continue;
                };
                let look = format!("label=\"{universe}\", tooltip=\"{why}\", {look}");
                looks.insert(tree.follow(story), look);
            }
        }
        let inner = format!("label=\"\", {}", NodeStyle::Inner.attributes());
        for place in 0..=tree.events.len() {
            let look = looks.get(&place).unwrap_or(&inner);
            line(format_args!("n{place} [{look}];"));
        }
        for (at, (from, event)) in tree.events.iter().enumerate() {
            let to = at + 1;
            let (style, label) = match &event.who {
                Some(who) => ("", format!("{who} {}", event.what)),
                None => (", style=dashed", event.what.clone()),
            };
            line(format_args!(
                "n{from} -> n{to} [label=\"{}\"{style}];",
                escaped(&label)
            ));
        }
        dot.push_str("}\n");
        dot
    }
}

fn look(how: &UniverseStatus) -> NodeStyle {
    match how {
        UniverseStatus::Paused { .. } => NodeStyle::Paused,
        UniverseStatus::Ended(ending) if ending.is_bad() => NodeStyle::BadEnd,
        UniverseStatus::Ended(_) => NodeStyle::End,
        UniverseStatus::Stopped => NodeStyle::Left,
        UniverseStatus::Running => NodeStyle::Frontier,
    }
}

/// A prefix tree of paths from the start. The start is node 0; event `i` leads to node `i + 1`.
#[derive(Default)]
struct Tree {
    events: Vec<(usize, PathEvent)>,
    next: HashMap<(usize, Option<String>, String), usize>,
}

impl Tree {
    /// Adds a path and returns the node it leads to.
    fn follow(&mut self, story: Vec<PathEvent>) -> usize {
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
