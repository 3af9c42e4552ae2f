//! The run loop of a session: breadth first, equal states once.

use std::{
    hash::BuildHasher,
    time::{Duration, Instant},
};

use hashbrown::HashTable;

use crate::Semantics;

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

/// From which state, and by which step; from none if it is where the walk began.
pub(super) type Origin<S> = Option<(usize, <S as Semantics>::Step)>;

/// States, in the order in which they were found.
pub(super) struct Walk<S: Semantics> {
    /// Each with how it was first reached.
    pub(super) nodes: Vec<(S::State, Origin<S>)>,
    /// Those from which nothing goes on.
    pub(super) ends: Vec<usize>,
    /// The first of those that were found and not looked at. It is all of them if there was time.
    pub(super) looked_at: usize,
}

impl<S: Semantics> Walk<S> {
    /// Whether nothing is missing.
    pub(super) fn is_complete(&self) -> bool {
        self.looked_at == self.nodes.len()
    }
}

pub(super) fn walk<S: Semantics>(
    semantics: &S,
    starts: impl IntoIterator<Item = S::State>,
    limits: &Limits,
    is_interrupted: fn() -> bool,
) -> Walk<S> {
    let began = Instant::now();
    let hasher = foldhash::fast::FixedState::default();
    let mut table: HashTable<usize> = HashTable::new();
    let mut walk: Walk<S> = Walk {
        nodes: Vec::new(),
        ends: Vec::new(),
        looked_at: 0,
    };
    let mut find = |nodes: &mut Vec<(S::State, Origin<S>)>, state: S::State, from| {
        let hash = hasher.hash_one(&state);
        let is_known = table.find(hash, |at| nodes[*at].0 == state).is_some();
        if !is_known {
            let at = nodes.len();
            table.insert_unique(hash, at, |at| hasher.hash_one(&nodes[*at].0));
            nodes.push((state, from));
        }
    };
    for state in starts {
        find(&mut walk.nodes, state, None);
    }
    while walk.looked_at < walk.nodes.len().min(limits.states) {
        let is_late = |time: Duration| began.elapsed() > time;
        let is_enough = || limits.time.is_some_and(is_late) || is_interrupted();
        if walk.looked_at.is_multiple_of(64) && is_enough() {
            break;
        }
        let at = walk.looked_at;
        let state = walk.nodes[at].0.clone();
        let steps = semantics.steps(&state);
        if steps.is_empty() {
            walk.ends.push(at);
        }
        for step in steps {
            let next = semantics.take(&state, &step);
            find(&mut walk.nodes, next, Some((at, step)));
        }
        walk.looked_at += 1;
    }
    walk
}
