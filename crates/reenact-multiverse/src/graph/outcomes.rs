//! The outcomes of a program: its ends, grouped by their result.

use std::{collections::BTreeMap, fmt};

use super::{Graph, NodeId, Path, Ways};
use crate::{Ending, Semantics};

/// One possible outcome of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result.
    pub ending: Ending,
    /// The universes with this result, in the order of their numbers.
    pub ends: Vec<NodeId>,
    /// The number of paths to any of them.
    pub ways: Ways,
    /// A shortest of these paths.
    pub path: Path,
}

impl Outcome {
    /// Returns whether an activity waits for something that never happens.
    pub fn is_deadlock(&self) -> bool {
        !self.ending.waits.is_empty()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_deadlock() {
            "deadlock"
        } else {
            "end"
        };
        let (ways, steps) = (self.ways, self.path.len());
        let ways_word = if ways == Ways::Exactly(1) {
            "way"
        } else {
            "ways"
        };
        let steps_word = if steps == 1 { "step" } else { "steps" };
        write!(
            out,
            "{kind}: {ways} {ways_word}, the shortest of {steps} {steps_word}"
        )?;
        for line in self.ending.lines() {
            write!(out, "\n  {line}")?;
        }
        Ok(())
    }
}

/// All outcomes: the one with the shortest path first, then by their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes(pub Vec<Outcome>);

impl fmt::Display for Outcomes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.0 {
            writeln!(out, "{outcome}")?;
        }
        Ok(())
    }
}

impl<S: Semantics> Graph<S> {
    /// The outcomes of the program, as far as the graph knows.
    pub fn outcomes(&self, semantics: &S) -> Outcomes {
        let mut groups: BTreeMap<Ending, Vec<NodeId>> = BTreeMap::new();
        for end in self.ends() {
            let ending = semantics.ending(self.state(end));
            groups.entry(ending).or_default().push(end);
        }
        if groups.is_empty() {
            return Outcomes::default();
        }
        let ways = self.ways(semantics);
        let outcomes = groups.into_iter().filter_map(|(ending, ends)| {
            let nearest = *ends.iter().min_by_key(|&&id| (self.depth(id), id))?;
            let all = ends.iter().map(|id| ways[id.0 as usize]);
            Some(Outcome {
                ways: all.reduce(|sum, more| sum + more)?,
                path: self.path(nearest),
                ending,
                ends,
            })
        });
        let mut outcomes: Vec<_> = outcomes.collect();
        outcomes.sort_by_key(|one| one.path.len());
        Outcomes(outcomes)
    }
}
