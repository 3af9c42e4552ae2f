//! The number of paths to a universe.

use std::{fmt, ops::Add};

use serde::{Serialize, Serializer};

use super::{Graph, NodeId};
use crate::Semantics;

/// A number of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ways {
    /// This many.
    Exactly(u128),
    /// At least this many. There are more than can be counted, or the search has not seen everything.
    AtLeast(u128),
    /// Infinitely many: there is a cycle on the way.
    Unbounded,
}

impl Add for Ways {
    type Output = Ways;

    fn add(self, other: Ways) -> Ways {
        match (self, other) {
            (Ways::Unbounded, _) | (_, Ways::Unbounded) => Ways::Unbounded,
            (Ways::Exactly(a), Ways::Exactly(b)) => match a.checked_add(b) {
                Some(sum) => Ways::Exactly(sum),
                None => Ways::AtLeast(u128::MAX),
            },
            (Ways::Exactly(a) | Ways::AtLeast(a), Ways::Exactly(b) | Ways::AtLeast(b)) => {
                Ways::AtLeast(a.saturating_add(b))
            }
        }
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ways::Exactly(ways) => write!(out, "{ways}"),
            Ways::AtLeast(ways) => write!(out, "at least {ways}"),
            Ways::Unbounded => write!(out, "unbounded"),
        }
    }
}

impl Serialize for Ways {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_str(self)
    }
}

impl<S: Semantics> Graph<S> {
    /// The number of paths, each a sequence of steps, from the start to each universe, by number.
    pub fn ways(&self, semantics: &S) -> Vec<Ways> {
        let mut into = vec![0_u32; self.len()];
        for id in self.nodes() {
            for edge in self.every_edge(semantics, id) {
                into[edge.to.0 as usize] += 1;
            }
        }
        let none = if self.coverage.has_every_universe() {
            Ways::Exactly(0)
        } else {
            Ways::AtLeast(0)
        };
        // Universes that never become ready are on a cycle or behind one.
        let mut sums = vec![none; self.len()];
        let mut is_ready = vec![false; self.len()];
        for root in self.roots() {
            sums[root.0 as usize] = none + Ways::Exactly(1);
        }
        let mut ready: Vec<NodeId> = self
            .roots()
            .filter(|root| into[root.0 as usize] == 0)
            .collect();
        while let Some(from) = ready.pop() {
            is_ready[from.0 as usize] = true;
            for edge in self.every_edge(semantics, from) {
                let to = edge.to.0 as usize;
                sums[to] = sums[to] + sums[from.0 as usize];
                into[to] -= 1;
                if into[to] == 0 {
                    ready.push(edge.to);
                }
            }
        }
        for (ways, is_ready) in sums.iter_mut().zip(is_ready) {
            if !is_ready {
                *ways = Ways::Unbounded;
            }
        }
        sums
    }
}
