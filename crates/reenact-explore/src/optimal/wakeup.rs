//! Wakeup trees: what is planned from a point on.
//!
//! Each point of the current execution has a list of branches, and each branch is a step with a list of branches. All
//! nodes are in one slab and linked by index, since a branch can be as long as an execution and must not be dropped or
//! walked recursively. A node is freed when its step is taken, and every step is taken eventually.
//!
//! A step that turns out to do less than expected may be asleep and is then dropped. Branches that are independent of
//! it are kept beside it for that case.
//!
//! Keeping only the first steps of the branches would not suffice, although each of them leads to everything that can
//! follow it: what wakes a sleeper is found only where it did not sleep, and has to be passed down from there.

use crate::Step;

const NONE: u32 = u32::MAX;

/// A list of branches, the one to be tried first in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branches(u32);

impl Branches {
    pub(super) const EMPTY: Branches = Branches(NONE);

    pub(super) fn is_empty(self) -> bool {
        self == Branches::EMPTY
    }
}

/// A step of a branch.
pub(super) struct Planned<E> {
    pub(super) step: Step,
    /// What it is expected to do.
    pub(super) event: E,
    /// Whether it is certain not to do less.
    pub(super) is_certain: bool,
    /// Whether an earlier step at the same point has turned out to do less since this one was planned.
    pub(super) is_early: bool,
}

struct Node<E> {
    /// `None` if the node is free.
    planned: Option<Planned<E>>,
    below: u32,
    /// What is to be tried in its place if it is dropped.
    beside: u32,
    next: u32,
}

/// The first branch of a list, removed from it.
pub(super) struct Taken<E> {
    pub(super) planned: Planned<E>,
    pub(super) below: Branches,
    beside: Branches,
}

/// A position for branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BranchPosition {
    /// Below the first of these.
    Below(Branches),
    /// Beside the first of these.
    Beside(Branches),
}

/// The nodes of all trees.
pub(super) struct Forest<E> {
    nodes: Vec<Node<E>>,
    free: u32,
}

impl<E> Forest<E> {
    pub(super) fn new() -> Self {
        Forest {
            nodes: Vec::new(),
            free: NONE,
        }
    }

    /// Removes the first branch.
    pub(super) fn take(&mut self, branches: &mut Branches) -> Option<Taken<E>> {
        let index = branches.0;
        let node = self.nodes.get_mut(index as usize)?;
        branches.0 = node.next;
        node.next = self.free;
        self.free = index;
        Some(Taken {
            planned: node.planned.take().expect("a node in a tree is in use"),
            below: Branches(node.below),
            beside: Branches(node.beside),
        })
    }

    /// Removes branches up to and including the first one whose step is wanted.
    pub(super) fn take_where(
        &mut self,
        branches: &mut Branches,
        is_wanted: impl Fn(Step) -> bool,
    ) -> Option<Taken<E>> {
        loop {
            let mut taken = self.take(branches)?;
            if is_wanted(taken.planned.step) {
                self.clear(&mut taken.beside);
                return Some(taken);
            }
            self.clear(&mut taken.below);
            self.prepend(branches, taken.beside);
        }
    }

    /// Removes all branches and everything below them.
    fn clear(&mut self, branches: &mut Branches) {
        while let Some(Taken { below, beside, .. }) = self.take(branches) {
            self.prepend(branches, below);
            self.prepend(branches, beside);
        }
    }

    fn prepend(&mut self, branches: &mut Branches, mut others: Branches) {
        if others.is_empty() {
            return;
        }
        self.append(&mut others, *branches);
        *branches = others;
    }

    /// The branches and their steps, first to last.
    pub(super) fn iter(&self, branches: Branches) -> impl Iterator<Item = (Branches, &Planned<E>)> {
        let mut at = branches.0;
        std::iter::from_fn(move || {
            let index = at;
            let node = self.nodes.get(index as usize)?;
            at = node.next;
            let planned = node.planned.as_ref().expect("a node in a tree is in use");
            Some((Branches(index), planned))
        })
    }

    /// Returns whether every path down these branches reaches a step that satisfies `is_it`, before one that satisfies
    /// `is_end`.
    pub(super) fn comes_to(
        &self,
        branches: Branches,
        is_it: impl Fn(&Planned<E>) -> bool,
        is_end: impl Fn(&Planned<E>) -> bool,
    ) -> bool {
        let mut left = vec![branches];
        while let Some(branches) = left.pop() {
            if branches.is_empty() {
                return false;
            }
            for (child, planned) in self.iter(branches) {
                if is_end(planned) {
                    return false;
                }
                if !is_it(planned) {
                    left.push(self.at(BranchPosition::Below(child)));
                }
            }
        }
        true
    }

    /// See [`Planned::is_early`].
    pub(super) fn mark_early(&mut self, branches: Branches) {
        let mut at = branches.0;
        while let Some(node) = self.nodes.get_mut(at as usize) {
            let planned = node.planned.as_mut().expect("a node in a tree is in use");
            planned.is_early = true;
            at = node.next;
        }
    }

    /// The branches at this position.
    pub(super) fn at(&self, place: BranchPosition) -> Branches {
        match place {
            BranchPosition::Below(Branches(index)) => Branches(self.nodes[index as usize].below),
            BranchPosition::Beside(Branches(index)) => Branches(self.nodes[index as usize].beside),
        }
    }

    /// Creates a branch of these steps, without forks.
    pub(super) fn grow(&mut self, steps: impl DoubleEndedIterator<Item = Planned<E>>) -> Branches {
        steps
            .rev()
            .fold(Branches::EMPTY, |below, planned| self.node(planned, below))
    }

    fn node(&mut self, planned: Planned<E>, below: Branches) -> Branches {
        let node = Node {
            planned: Some(planned),
            below: below.0,
            beside: NONE,
            next: NONE,
        };
        if self.free == NONE {
            let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
            assert_ne!(index, NONE, "fewer than 2^32 nodes");
            self.nodes.push(node);
            return Branches(index);
        }
        let index = self.free;
        let slot = &mut self.nodes[index as usize];
        self.free = slot.next;
        *slot = node;
        Branches(index)
    }

    /// Appends a branch.
    pub(super) fn append(&mut self, branches: &mut Branches, branch: Branches) {
        if branches.is_empty() {
            *branches = branch;
            return;
        }
        let mut at = branches.0;
        while self.nodes[at as usize].next != NONE {
            at = self.nodes[at as usize].next;
        }
        self.nodes[at as usize].next = branch.0;
    }

    /// Appends a branch at this position.
    pub(super) fn append_at(&mut self, place: BranchPosition, branch: Branches) {
        let mut branches = self.at(place);
        self.append(&mut branches, branch);
        match place {
            BranchPosition::Below(Branches(index)) => self.nodes[index as usize].below = branches.0,
            BranchPosition::Beside(Branches(index)) => {
                self.nodes[index as usize].beside = branches.0
            }
        }
    }
}
