//! A way through the multiverse, told to a person.

use std::fmt;

use serde::Serialize;

use super::{Graph, NodeId, Path};
use crate::{Activity, Semantics, Site};

/// What happens in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoryLine {
    /// Who does it, by name.
    pub who: String,
    /// What that one does, a sentence without its subject.
    pub what: String,
    /// Where the program says so.
    pub site: Option<Site>,
}

impl fmt::Display for StoryLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.who, self.what)?;
        match self.site {
            Some(site) => write!(out, " (line {})", site.line),
            None => Ok(()),
        }
    }
}

/// What happens on a way, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Story(pub Vec<StoryLine>);

impl fmt::Display for Story {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.len().to_string().len();
        for (number, line) in (1..).zip(&self.0) {
            writeln!(out, "{number:width$}. {line}")?;
        }
        Ok(())
    }
}

impl<S: Semantics> Graph<S> {
    /// Tells a way. Activities are called as they are at its end, when more of them have a name.
    pub fn story(&self, semantics: &S, path: &Path) -> Story {
        let Some(last) = path.last() else {
            return Story::default();
        };
        let name = |who: Activity| semantics.name(self.state(last), who);
        let from = path.nodes.iter().zip(&path.steps);
        let lines = from.map(|(&node, &step)| self.tell(semantics, node, step, &name));
        Story(lines.collect())
    }

    /// Tells a step of a universe, by number.
    pub(super) fn tell(
        &self,
        semantics: &S,
        node: NodeId,
        step: u32,
        name: &dyn Fn(Activity) -> String,
    ) -> StoryLine {
        let state = self.state(node);
        let step = self.step(semantics, node, step);
        StoryLine {
            who: name(semantics.activity(&step)),
            what: semantics.tell(state, &step, name),
            site: semantics.operation(state, &step).site,
        }
    }

    /// A step as a label: told as its universe names everyone, and not where it is.
    pub(super) fn label(&self, semantics: &S, node: NodeId, step: u32) -> String {
        let name = |who: Activity| semantics.name(self.state(node), who);
        let line = self.tell(semantics, node, step, &name);
        format!("{} {}", line.who, line.what)
    }
}
