//! AStarSearch: workers search a three-dimensional grid for the way from one corner to a target.
//!
//! In Savina all workers set the parents of nodes that they share. Actors share nothing, so it is the master who
//! knows from where each node was reached first: a worker reports the neighbours of the node that it was sent, and
//! those that are new become work. As there, everything that can be reached is, and the way is checked at the
//! end. A node that is reached has a message each for its work and for the end of it, and an edge has one.

use std::sync::Arc;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting, random::Random};

const WORKERS: usize = 100;
const SIDE: usize = 20;
const SEED: u64 = 123_456;
const ROUNDS: u64 = 650;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let grid = Arc::new(Grid::new());
    let reachable = grid.reachable();
    let edges: usize = reachable
        .iter()
        .map(|&node| grid.neighbours[node].len())
        .sum();
    Measured::rounds(setting.times(ROUNDS), |_| {
        let (parents, report) = Promise::pair();
        let master = system.spawn(Master {
            parents: vec![None; grid.neighbours.len()],
            workers: Vec::new(),
            next_worker: 0,
            under_way: 0,
            report,
        });
        master.start(Arc::clone(&grid));
        grid.check(&parents.wait().unwrap(), reachable.len());
        (2 * reachable.len() + edges) as u64
    })
}

type Node = usize;

const ORIGIN: Node = 0;

/// Which nodes can be reached from each in one step.
struct Grid {
    neighbours: Vec<Vec<Node>>,
}

impl Grid {
    /// Of the steps that lead forward in one or two directions, a random half is there, but always one at least.
    fn new() -> Grid {
        let mut random = Random::new(SEED);
        let node = |i: usize, j: usize, k: usize| (i * SIDE + j) * SIDE + k;
        let mut neighbours = Vec::with_capacity(SIDE.pow(3));
        for from in 0..SIDE.pow(3) {
            let (i, j, k) = (from / SIDE / SIDE, from / SIDE % SIDE, from % SIDE);
            let mut of_this = Vec::new();
            for step in 1..7 {
                if (step == 6 && of_this.is_empty()) || random.below(2) == 0 {
                    let along = |at: usize, bit: usize| (at + (step >> bit & 1)).min(SIDE - 1);
                    let to = node(along(i, 2), along(j, 1), along(k, 0));
                    if to != from && !of_this.contains(&to) {
                        of_this.push(to);
                    }
                }
            }
            neighbours.push(of_this);
        }
        Grid { neighbours }
    }

    fn target() -> Node {
        let axis = SIDE * 4 / 5;
        (axis * SIDE + axis) * SIDE + axis
    }

    fn reachable(&self) -> Vec<Node> {
        let mut seen = vec![false; self.neighbours.len()];
        seen[ORIGIN] = true;
        let mut reached = vec![ORIGIN];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &neighbour in &self.neighbours[node] {
                if !std::mem::replace(&mut seen[neighbour], true) {
                    reached.push(neighbour);
                }
            }
        }
        reached
    }

    /// Follows the way back from the target.
    fn check(&self, parents: &[Option<Node>], reachable: usize) {
        assert_eq!(parents.iter().flatten().count(), reachable);
        let mut node = Grid::target();
        while node != ORIGIN {
            let parent = parents[node].expect("the target was reached");
            assert!(self.neighbours[parent].contains(&node));
            node = parent;
        }
    }
}

struct Master {
    /// From where each node was reached; the origin from itself.
    parents: Vec<Option<Node>>,
    workers: Vec<FarRef<Worker>>,
    next_worker: usize,
    under_way: usize,
    report: Resolver<Vec<Option<Node>>>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>, grid: Arc<Grid>) {
        let worker = || Worker {
            grid: Arc::clone(&grid),
            master: ctx.me(),
        };
        self.workers = (0..WORKERS).map(|_| ctx.spawn(worker())).collect();
        self.work(ORIGIN, ORIGIN);
    }

    /// A node can be reached from another.
    pub(super) fn work(&mut self, node: Node, parent: Node) {
        if self.parents[node].is_none() {
            self.parents[node] = Some(parent);
            self.under_way += 1;
            self.workers[self.next_worker].work(node);
            self.next_worker = (self.next_worker + 1) % self.workers.len();
        }
    }

    pub(super) fn received(&mut self) {
        self.under_way -= 1;
        if self.under_way == 0 {
            self.workers.clear();
            self.report.resolve(std::mem::take(&mut self.parents));
        }
    }
}

struct Worker {
    grid: Arc<Grid>,
    master: FarRef<Master>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn work(&mut self, node: Node) {
        for &neighbour in &self.grid.neighbours[node] {
            self.master.work(neighbour, node);
        }
        self.master.received();
    }
}
