//! UnbalancedCobwebbedTree: actors grow a tree by asking its root for leave, then the tree is traversed.
//!
//! Which nodes have children depends on the order in which they ask. The nodes know their heights and how many messages
//! they had, and say so when they terminate.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::busy_wait;
use crate::{Measured, Setting, random::Random};

const MAX_NODES: u64 = 30_000;
const BINOMIAL: u64 = 10;
const URGENT_PERCENT: u64 = 50;
const ROUNDS: u64 = 9;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    Measured::rounds(setting.times(ROUNDS), |seed| {
        let (tree, report) = Promise::pair();
        let root = system.spawn(Root {
            random: Random::new(seed),
            size: 1,
            inner: 0,
            asking: 0,
            children: Vec::new(),
            granted: 0,
            found: Tree::default(),
            report,
        });
        root.generate_tree();
        let tree = tree.wait().unwrap();
        // The root sees to it that no tree dies out before it is as large as it may be.
        assert!(tree.nodes + BINOMIAL > MAX_NODES && tree.nodes <= MAX_NODES);
        assert_eq!(tree.nodes, 1 + tree.inner * BINOMIAL);
        assert_eq!(tree.traversed, tree.nodes);
        assert_eq!(
            tree.granted,
            tree.inner - 1,
            "each but the root sent a message to its parent"
        );
        tree.messages
    })
}

/// What there is in a tree, or in a part of it.
#[derive(Clone, Copy, Default)]
struct Tree {
    nodes: u64,
    /// Nodes with children.
    inner: u64,
    traversed: u64,
    granted: u64,
    messages: u64,
}

impl Tree {
    fn plus(self, other: Tree) -> Tree {
        Tree {
            nodes: self.nodes + other.nodes,
            inner: self.inner + other.inner,
            traversed: self.traversed + other.traversed,
            granted: self.granted + other.granted,
            messages: self.messages + other.messages,
        }
    }
}

struct Root {
    random: Random,
    size: u64,
    inner: u64,
    /// How many nodes have not asked yet.
    asking: u64,
    children: Vec<FarRef<Node>>,
    granted: u64,
    /// What the nodes reported that have terminated.
    found: Tree,
    report: Resolver<Tree>,
}

#[reenact::actor]
impl Root {
    pub(super) fn generate_tree(&mut self, ctx: &mut Context<Self>) {
        let work = self.next_work();
        self.children = Node::children(ctx, None, &ctx.me(), work, None);
        self.grew();
        for child in &self.children {
            child.try_generate_children();
        }
    }

    /// A node wants to have children.
    pub(super) fn should_generate_children(&mut self, child: FarRef<Node>) {
        self.found.messages += 1;
        self.asking -= 1;
        if self.size + BINOMIAL <= MAX_NODES && self.may_grow() {
            let work = self.next_work();
            if self.random.below(100) > URGENT_PERCENT {
                child.generate_children(work);
            } else {
                let urgent = self.random.below(BINOMIAL);
                child.urgent_generate_children(urgent, work);
            }
            self.grew();
        }
        if self.asking == 0 {
            for child in &self.children {
                child.traverse();
            }
            for child in &self.children {
                child.terminate();
            }
        }
    }

    pub(super) fn update_grant(&mut self) {
        self.found.messages += 1;
        self.granted += 1;
    }

    /// A node is gone.
    pub(super) fn terminated(&mut self, node: Tree) {
        self.found.messages += 1;
        self.found = self.found.plus(node);
        if self.found.nodes + 1 == self.size {
            self.children.clear();
            let root = Tree {
                nodes: 1,
                inner: 1,
                traversed: 1,
                granted: self.granted,
                messages: 0,
            };
            assert_eq!(self.inner, self.found.inner + 1);
            self.report.resolve(self.found.plus(root));
        }
    }

    /// Whether a node that asks may have children: by chance, but the last one that could must.
    fn may_grow(&mut self) -> bool {
        self.random.below(2) == 0 || self.asking == 0
    }

    fn grew(&mut self) {
        self.size += BINOMIAL;
        self.asking += BINOMIAL;
        self.inner += 1;
    }

    /// A normal distribution, by the sum of twelve uniform numbers.
    fn next_work(&mut self) -> u64 {
        let sum: f64 = (0..12).map(|_| self.random.unit()).sum();
        let work = AVERAGE_WORK as f64 + (sum - 6.0) * DEVIATION as f64;
        work.round().max(1.0) as u64
    }
}

const AVERAGE_WORK: u64 = 500;
const DEVIATION: u64 = 100;

/// What a node does before it asks.
const WORK_BEFORE_ASKING: u64 = 100;

struct Node {
    /// None for a child of the root.
    parent: Option<FarRef<Node>>,
    root: FarRef<Root>,
    work: u64,
    urgent: bool,
    children: Vec<FarRef<Node>>,
    urgent_child: Option<u64>,
    counted: Tree,
}

#[reenact::actor]
impl Node {
    pub(super) fn try_generate_children(&mut self, ctx: &mut Context<Self>) {
        self.counted.messages += 1;
        busy_wait(WORK_BEFORE_ASKING);
        self.root.should_generate_children(ctx.me());
    }

    pub(super) fn generate_children(&mut self, ctx: &mut Context<Self>, work: u64) {
        self.counted.messages += 1;
        self.grow(ctx, None, work);
    }

    /// As the other, with one child that is to be traversed as urgent.
    pub(super) fn urgent_generate_children(
        &mut self,
        ctx: &mut Context<Self>,
        urgent_child: u64,
        work: u64,
    ) {
        self.counted.messages += 1;
        self.grow(ctx, Some(urgent_child), work);
    }

    /// A child has children.
    pub(super) fn update_grant(&mut self) {
        self.counted.messages += 1;
        self.counted.granted += 1;
    }

    pub(super) fn traverse(&mut self) {
        assert!(!self.urgent);
        self.visit();
    }

    pub(super) fn urgent_traverse(&mut self) {
        assert!(self.urgent);
        self.visit();
    }

    pub(super) fn terminate(&mut self, ctx: &mut Context<Self>) {
        self.counted.messages += 1;
        for child in &self.children {
            child.terminate();
        }
        self.root.terminated(self.counted);
        ctx.stop();
    }

    fn visit(&mut self) {
        self.counted.messages += 1;
        self.counted.traversed += 1;
        busy_wait(self.work);
        for (number, child) in (0..).zip(&self.children) {
            if self.urgent_child == Some(number) {
                child.urgent_traverse();
            } else {
                child.traverse();
            }
        }
    }

    fn grow(&mut self, ctx: &Context<Self>, urgent_child: Option<u64>, work: u64) {
        match &self.parent {
            Some(parent) => parent.update_grant(),
            None => self.root.update_grant(),
        }
        self.counted.inner = 1;
        self.urgent_child = urgent_child;
        self.children = Node::children(ctx, Some(&ctx.me()), &self.root, work, urgent_child);
        for child in &self.children {
            child.try_generate_children();
        }
    }

    fn children<A: Send + 'static>(
        ctx: &Context<A>,
        parent: Option<&FarRef<Node>>,
        root: &FarRef<Root>,
        work: u64,
        urgent_child: Option<u64>,
    ) -> Vec<FarRef<Node>> {
        let child = |number| Node {
            parent: parent.cloned(),
            root: root.clone(),
            work,
            urgent: urgent_child == Some(number),
            children: Vec::new(),
            urgent_child: None,
            counted: Tree {
                nodes: 1,
                ..Tree::default()
            },
        };
        (0..BINOMIAL)
            .map(|number| ctx.spawn(child(number)))
            .collect()
    }
}
