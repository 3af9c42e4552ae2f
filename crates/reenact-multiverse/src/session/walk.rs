//! The search that a session runs from its current universes.

use std::{num::NonZero, ops::ControlFlow, thread::available_parallelism, time::Duration};

use crate::{Bounds, Graph, Keep, NodeId, NodeKind, Search, Semantics};

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of states.
    pub states: usize,
    /// Maximum time.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: 100_000,
            time: None,
        }
    }
}

/// The states found from some start states.
pub(super) struct ReachedStates<'s, S: Semantics> {
    semantics: &'s S,
    graph: Graph<S>,
}

/// Searches on all cores. The result and its order do not depend on their number.
pub(super) fn walk<'s, S: Semantics>(
    semantics: &'s S,
    starts: Vec<S::State>,
    limits: &Limits,
    is_interrupted: fn() -> bool,
) -> ReachedStates<'s, S> {
    let bounds = Bounds {
        states: Some(limits.states.max(starts.len())),
        time: limits.time,
        ..Bounds::default()
    };
    let graph = Search::of(semantics)
        .from(starts)
        .keep(Keep::Tree)
        .bounds(bounds)
        .workers(available_parallelism().map_or(1, NonZero::get))
        .progress(|_| match is_interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
        .run();
    ReachedStates { semantics, graph }
}

impl<S: Semantics> ReachedStates<'_, S> {
    /// The number of states. The start states come first, then the nearest ones.
    pub(super) fn len(&self) -> usize {
        self.graph.len()
    }

    pub(super) fn state(&self, at: usize) -> &S::State {
        self.graph.state(NodeId(at as u32))
    }

    /// The state from which it was found, and the step. `None` for a start state.
    pub(super) fn origin(&self, at: usize) -> Option<(usize, S::Step)> {
        let (from, step) = self.graph.origin(NodeId(at as u32))?;
        Some((from.0 as usize, self.graph.step(self.semantics, from, step)))
    }

    /// The states without steps.
    pub(super) fn ends(&self) -> Vec<usize> {
        self.graph.ends().map(|id| id.0 as usize).collect()
    }

    /// The states that were found but not expanded: none if no limit was reached.
    pub(super) fn left(&self) -> Vec<usize> {
        let left = self.graph.of_kind(NodeKind::Frontier);
        left.map(|id| id.0 as usize).collect()
    }
}
