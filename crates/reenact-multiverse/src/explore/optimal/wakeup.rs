//! Wakeup trees: what is to be tried from a point on, as far as it is settled.
//!
//! Each point of the current execution has a list of branches, and each branch is a step with a list of branches. All
//! nodes are in one slab and linked by number, since a branch can be as long as an execution and must not be dropped or
//! walked by recursion. A node is given back when its step is taken, and every one is taken, sooner or later.

use crate::Activity;

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

struct Node<E> {
    activity: Activity,
    event: Option<E>,
    below: u32,
    next: u32,
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

    /// Takes off the first branch: its step, and what comes below it.
    pub(super) fn take(&mut self, branches: &mut Branches) -> Option<(Activity, Branches)> {
        let index = branches.0;
        let node = self.nodes.get_mut(index as usize)?;
        branches.0 = node.next;
        node.event = None;
        node.next = self.free;
        self.free = index;
        Some((node.activity, Branches(node.below)))
    }

    /// The branches and their steps, first to last.
    pub(super) fn iter(
        &self,
        branches: Branches,
    ) -> impl Iterator<Item = (Branches, Activity, &E)> {
        let mut at = branches.0;
        std::iter::from_fn(move || {
            let index = at;
            let node = self.nodes.get(index as usize)?;
            at = node.next;
            let event = node.event.as_ref().expect("a node in a tree has an event");
            Some((Branches(index), node.activity, event))
        })
    }

    /// What is below the first one of `branches`.
    pub(super) fn below(&self, branches: Branches) -> Branches {
        Branches(self.nodes[branches.0 as usize].below)
    }

    /// One branch, without a fork, of these steps.
    pub(super) fn grow(
        &mut self,
        steps: impl DoubleEndedIterator<Item = (Activity, E)>,
    ) -> Branches {
        steps
            .rev()
            .fold(Branches::EMPTY, |below, (activity, event)| {
                self.node(activity, event, below)
            })
    }

    fn node(&mut self, activity: Activity, event: E, below: Branches) -> Branches {
        let node = Node {
            activity,
            event: Some(event),
            below: below.0,
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

    /// A new branch behind all others below the first one of `parent`.
    pub(super) fn append_below(&mut self, parent: Branches, branch: Branches) {
        let mut below = self.below(parent);
        self.append(&mut below, branch);
        self.nodes[parent.0 as usize].below = below.0;
    }
}
