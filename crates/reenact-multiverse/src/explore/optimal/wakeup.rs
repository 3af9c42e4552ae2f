//! Wakeup trees: what is to be tried from a point on, as far as it is settled.
//!
//! Each point of the current execution has a list of branches, and each branch is a step with a list of branches. All
//! nodes are in one slab and linked by number, since a branch can be as long as an execution and must not be dropped or
//! walked by recursion. A node is given back when its step is taken, and every one is taken, sooner or later.
//!
//! A step that may turn out to do less than expected may then be one that is asleep, and be left out. What has nothing to
//! do with it is kept beside it for that case.
//!
//! It would not be enough to keep the first steps of the branches, though each of them leads to all that can follow it:
//! what wakes a sleeper is found only where it did not sleep, and has to be handed down from there.

use crate::explore::Step;

const NONE: u32 = u32::MAX;

/// Branches, the one to be tried first in front.
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
    /// Whether it will not turn out to do less.
    pub(super) is_certain: bool,
    /// Whether a step before it, at the same point, has turned out to do less since this one was planned.
    pub(super) is_early: bool,
}

struct Node<E> {
    /// `None`: it is free.
    planned: Option<Planned<E>>,
    below: u32,
    /// What is to be tried in its place if it is left out.
    beside: u32,
    next: u32,
}

/// The first of some branches, taken off.
pub(super) struct Taken<E> {
    pub(super) planned: Planned<E>,
    pub(super) below: Branches,
    beside: Branches,
}

/// Where branches can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Below the first one of these.
    Below(Branches),
    /// Beside it.
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

    /// Takes off the first branch.
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

    /// Takes off the first branch whose step is wanted, and those before it.
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

    /// Takes off all branches and whatever is below them.
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

    /// Whether each way down these branches comes to a step that `is_it`, before one that `is_end`.
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
                    left.push(self.at(Place::Below(child)));
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

    /// What is there.
    pub(super) fn at(&self, place: Place) -> Branches {
        match place {
            Place::Below(Branches(index)) => Branches(self.nodes[index as usize].below),
            Place::Beside(Branches(index)) => Branches(self.nodes[index as usize].beside),
        }
    }

    /// One branch, without a fork, of these steps.
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

    /// A new branch behind all others.
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

    /// The same, there.
    pub(super) fn append_at(&mut self, place: Place, branch: Branches) {
        let mut branches = self.at(place);
        self.append(&mut branches, branch);
        match place {
            Place::Below(Branches(index)) => self.nodes[index as usize].below = branches.0,
            Place::Beside(Branches(index)) => self.nodes[index as usize].beside = branches.0,
        }
    }
}
