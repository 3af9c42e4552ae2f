//! What a session gets to from where it is.

use std::{num::NonZero, ops::ControlFlow, thread::available_parallelism, time::Duration};

use crate::{Bounds, Graph, Keep, Kind, NodeId, Search, Semantics};

/// When to stop looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After that many states.
    pub states: usize,
    /// After that long.
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

/// What was found from some states.
pub(super) struct Walk<'s, S: Semantics> {
    semantics: &'s S,
    graph: Graph<S>,
}

/// Looks on all cores: what is found, and in which order, does not depend on how many these are.
pub(super) fn walk<'s, S: Semantics>(
    semantics: &'s S,
    starts: Vec<S::State>,
    limits: &Limits,
    is_interrupted: fn() -> bool,
) -> Walk<'s, S> {
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
    Walk { semantics, graph }
}

impl<S: Semantics> Walk<'_, S> {
    /// How many states there are. Those from which the walk began come first, then the nearest ones.
    pub(super) fn len(&self) -> usize {
        self.graph.len()
    }

    pub(super) fn state(&self, at: usize) -> &S::State {
        self.graph.state(NodeId(at as u32))
    }

    /// From which state it was found, and by which step; from none if the walk began there.
    pub(super) fn origin(&self, at: usize) -> Option<(usize, S::Step)> {
        let (from, step) = self.graph.origin(NodeId(at as u32))?;
        Some((from.0 as usize, self.graph.step(self.semantics, from, step)))
    }

    /// Those from which nothing goes on.
    pub(super) fn ends(&self) -> Vec<usize> {
        self.graph.ends().map(|id| id.0 as usize).collect()
    }

    /// Those that were found and not looked at: none if there was time.
    pub(super) fn left(&self) -> Vec<usize> {
        let left = self.graph.of_kind(Kind::Frontier);
        left.map(|id| id.0 as usize).collect()
    }
}
