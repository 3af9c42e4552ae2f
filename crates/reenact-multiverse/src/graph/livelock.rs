//! Livelocks: universes that run forever and cannot reach an end.
//!
//! A trap is a set of universes with a cycle that all lead to each other and nowhere else. Once in it, the program
//! never terminates, although it does not deadlock.

use std::collections::VecDeque;

use super::{Graph, NodeId, NodeKind, Path, store::NONE};
use crate::Semantics;

/// A trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The universes in it, in the order of their numbers.
    pub nodes: Vec<NodeId>,
    /// A shortest path into it.
    pub path: Path,
    /// A shortest cycle from there back to the same universe.
    pub cycle: Path,
}

impl<S: Semantics> Graph<S> {
    /// All traps, the nearest first. `None` if some universes or steps are unknown: there might be a way out.
    pub fn livelocks(&self, semantics: &S) -> Option<Vec<Livelock>> {
        if !self.coverage.has_every_universe() {
            return None;
        }
        let traps = self.traps(semantics).into_iter().map(|nodes| {
            let nearest = nodes.iter().min_by_key(|&&id| (self.depth(id), id));
            let entry = *nearest.unwrap_or(&nodes[0]);
            Livelock {
                path: self.path(entry),
                cycle: self.cycle(semantics, entry),
                nodes,
            }
        });
        let mut livelocks: Vec<_> = traps.collect();
        livelocks.sort_by_key(|one| (one.path.len(), one.nodes[0]));
        Some(livelocks)
    }

    /// All universes from which neither an end nor a universe to stop at can be reached. `None` if some universes or
    /// steps are unknown.
    pub fn doomed(&self, semantics: &S) -> Option<Vec<NodeId>> {
        if !self.coverage.has_every_universe() {
            return None;
        }
        let is_hopeful = self.leads_to_an_end(semantics);
        Some(
            self.nodes()
                .filter(|id| !is_hopeful[id.0 as usize])
                .collect(),
        )
    }

    fn leads_to_an_end(&self, semantics: &S) -> Vec<bool> {
        let mut starts = vec![0_usize; self.len() + 1];
        for id in self.nodes() {
            for edge in self.every_edge(semantics, id) {
                starts[edge.to.0 as usize + 1] += 1;
            }
        }
        for at in 0..self.len() {
            starts[at + 1] += starts[at];
        }
        // The predecessors of each state: a range of one list, filled from its start.
        let mut into = vec![0_u32; starts[self.len()]];
        let mut filled = starts.clone();
        for id in self.nodes() {
            for edge in self.every_edge(semantics, id) {
                let at = &mut filled[edge.to.0 as usize];
                into[*at] = id.0;
                *at += 1;
            }
        }
        let mut is_hopeful = vec![false; self.len()];
        let mut work: Vec<u32> = Vec::new();
        for id in self.nodes() {
            if matches!(self.kind(id), NodeKind::End | NodeKind::Stopped) {
                is_hopeful[id.0 as usize] = true;
                work.push(id.0);
            }
        }
        while let Some(id) = work.pop() {
            for &from in &into[starts[id as usize]..starts[id as usize + 1]] {
                if !is_hopeful[from as usize] {
                    is_hopeful[from as usize] = true;
                    work.push(from);
                }
            }
        }
        is_hopeful
    }

    /// The strongly connected components that no edge leaves, without ends (Tarjan's algorithm).
    fn traps(&self, semantics: &S) -> Vec<Vec<NodeId>> {
        let is_hopeful = self.leads_to_an_end(semantics);
        let mut tarjan = Tarjan {
            order: vec![NONE; self.len()],
            low: vec![0; self.len()],
            is_in_trap: vec![true; self.len()],
            is_open: vec![false; self.len()],
            open: Vec::new(),
            traps: Vec::new(),
            count: 0,
        };
        for root in 0..self.len() as u32 {
            if is_hopeful[root as usize] || tarjan.order[root as usize] != NONE {
                continue;
            }
            let mut path = vec![(tarjan.enter(root), self.every_edge(semantics, NodeId(root)))];
            while let Some((id, edges)) = path.last_mut() {
                let id = *id;
                let Some(edge) = edges.pop() else {
                    path.pop();
                    let parent = path.last().map(|(parent, _)| *parent);
                    tarjan.leave(id, parent);
                    continue;
                };
                let to = edge.to.0;
                if tarjan.order[to as usize] == NONE {
                    path.push((tarjan.enter(to), self.every_edge(semantics, edge.to)));
                } else if tarjan.is_open[to as usize] {
                    tarjan.low[id as usize] =
                        tarjan.low[id as usize].min(tarjan.order[to as usize]);
                } else {
                    tarjan.is_in_trap[id as usize] = false;
                }
            }
        }
        tarjan.traps
    }

    /// A shortest cycle from a universe back to itself.
    fn cycle(&self, semantics: &S, start: NodeId) -> Path {
        let mut from: hashbrown::HashMap<NodeId, (NodeId, u32), foldhash::fast::FixedState> =
            hashbrown::HashMap::default();
        let mut queue = VecDeque::from([start]);
        while let Some(id) = queue.pop_front() {
            for edge in self.every_edge(semantics, id) {
                if from.contains_key(&edge.to) {
                    continue;
                }
                from.insert(edge.to, (id, edge.step));
                if edge.to == start {
                    queue.clear();
                    break;
                }
                queue.push_back(edge.to);
            }
        }
        let mut nodes = vec![start];
        let mut steps = Vec::new();
        let mut at = start;
        while let Some(&(before, step)) = from.get(&at) {
            nodes.push(before);
            steps.push(step);
            at = before;
            if at == start {
                break;
            }
        }
        nodes.reverse();
        steps.reverse();
        Path { nodes, steps }
    }
}

/// The state of Tarjan's algorithm, indexed by state number.
struct Tarjan {
    order: Vec<u32>,
    low: Vec<u32>,
    /// Whether no edge is known yet to leave the component.
    is_in_trap: Vec<bool>,
    is_open: Vec<bool>,
    open: Vec<u32>,
    traps: Vec<Vec<NodeId>>,
    count: u32,
}

impl Tarjan {
    fn enter(&mut self, id: u32) -> u32 {
        self.order[id as usize] = self.count;
        self.low[id as usize] = self.count;
        self.count += 1;
        self.is_open[id as usize] = true;
        self.open.push(id);
        id
    }

    fn leave(&mut self, id: u32, parent: Option<u32>) {
        let is_root = self.low[id as usize] == self.order[id as usize];
        if is_root {
            let start = self.open.iter().rposition(|&open| open == id);
            let component = self.open.split_off(start.unwrap_or(0));
            let is_trap = component.iter().all(|&one| self.is_in_trap[one as usize]);
            for &one in &component {
                self.is_open[one as usize] = false;
            }
            if is_trap {
                let mut nodes: Vec<_> = component.into_iter().map(NodeId).collect();
                nodes.sort_unstable();
                self.traps.push(nodes);
            }
        }
        if let Some(parent) = parent {
            if is_root {
                self.is_in_trap[parent as usize] = false;
            } else {
                self.low[parent as usize] = self.low[parent as usize].min(self.low[id as usize]);
            }
        }
    }
}
