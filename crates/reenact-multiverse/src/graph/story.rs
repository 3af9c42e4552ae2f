//! A description of a path through the multiverse.

use std::fmt;

use serde::Serialize;

use super::{Graph, NodeId, Path};
use crate::{Activity, Semantics, Site, semantics::write_line};

/// A description of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoryLine {
    /// The name of the activity.
    pub who: String,
    /// What the activity does, a sentence without its subject.
    pub what: String,
    /// The source location.
    pub site: Option<Site>,
}

impl fmt::Display for StoryLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.who, self.what)?;
        write_line(out, self.site)
    }
}

/// A description of a path, step by step.
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
    /// Describes a path. Activities have the names of its last universe, when more of them have a name.
    pub fn story(&self, semantics: &S, path: &Path) -> Story {
        let Some(last) = path.last() else {
            return Story::default();
        };
        let name = |who: Activity| semantics.name(self.state(last), who);
        let from = path.nodes.iter().zip(&path.steps);
        let lines = from.map(|(&node, &step)| self.describe(semantics, node, step, &name));
        Story(lines.collect())
    }

    /// Describes a step of a universe, by index.
    pub(super) fn describe(
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
            what: semantics.describe(state, &step, name),
            site: semantics.operation(state, &step).site,
        }
    }

    /// A step as a label: with the names of its own universe, and without the source location.
    pub(super) fn label(&self, semantics: &S, node: NodeId, step: u32) -> String {
        let name = |who: Activity| semantics.name(self.state(node), who);
        let line = self.describe(semantics, node, step, &name);
        format!("{} {}", line.who, line.what)
    }
}
