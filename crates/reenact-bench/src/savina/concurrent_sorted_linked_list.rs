//! ConcurrentSortedLinkedList: workers read, extend and measure one sorted list.
//!
//! Most of its time is spent in the list, which one looks through from its head. A request has two messages,
//! itself and its result; two more per worker are the start and the end of its work.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting, random::Random};

const WORKERS: u64 = 10;
const MESSAGES: u64 = 1_000;
const WRITE_PERCENT: u64 = 10;
const SIZE_PERCENT: u64 = 1;
const LARGEST: u64 = 1 << 31;
/// Each on a new list: in a longer one the messages would weigh less.
const ROUNDS: u64 = 80;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    Measured::rounds(setting.times(ROUNDS), |round| {
        let (items, report) = Promise::pair();
        let list = system.spawn(SortedList::default());
        let master = system.spawn(Master {
            round,
            working: WORKERS,
            list,
            report,
        });
        master.start();
        assert_eq!(items.wait().unwrap(), expected(round));
        (2 * MESSAGES + 2) * WORKERS + 2
    })
}

/// Everything that the workers write in a round, sorted.
fn expected(round: u64) -> Vec<u64> {
    let mut items = Vec::new();
    for worker in 0..WORKERS {
        let mut random = random_of(round, worker);
        for _ in 0..MESSAGES {
            if let Request::Write(item) = Request::next(&mut random) {
                items.push(item);
            }
        }
    }
    items.sort_unstable();
    items
}

fn random_of(round: u64, worker: u64) -> Random {
    Random::new(round * WORKERS + worker)
}

enum Request {
    Size,
    Write(u64),
    Contains(u64),
}

impl Request {
    fn next(random: &mut Random) -> Request {
        let what = random.below(100);
        if what < SIZE_PERCENT {
            Request::Size
        } else if what < SIZE_PERCENT + WRITE_PERCENT {
            Request::Write(random.below(LARGEST))
        } else {
            Request::Contains(random.below(LARGEST))
        }
    }
}

struct Master {
    round: u64,
    working: u64,
    list: FarRef<SortedList>,
    report: Resolver<Vec<u64>>,
}

#[reenact::actor]
impl Master {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        for worker in 0..WORKERS {
            let worker = ctx.spawn(Worker {
                random: random_of(self.round, worker),
                left: MESSAGES,
                list: self.list.clone(),
                master: ctx.me(),
            });
            worker.do_work();
        }
    }

    pub(super) fn end_work(&mut self, ctx: &mut Context<Self>) {
        self.working -= 1;
        if self.working == 0 {
            self.list.end(ctx.me());
        }
    }

    pub(super) fn items(&mut self, items: Vec<u64>) {
        self.report.resolve(items);
    }
}

struct Worker {
    random: Random,
    left: u64,
    list: FarRef<SortedList>,
    master: FarRef<Master>,
}

#[reenact::actor]
impl Worker {
    pub(super) fn do_work(&mut self, ctx: &mut Context<Self>) {
        if self.left == 0 {
            self.master.end_work();
            return;
        }
        self.left -= 1;
        match Request::next(&mut self.random) {
            Request::Size => self.list.size(ctx.me()),
            Request::Write(item) => self.list.write(ctx.me(), item),
            Request::Contains(item) => self.list.contains(ctx.me(), item),
        }
    }

    pub(super) fn result(&mut self, ctx: &mut Context<Self>, _result: u64) {
        self.do_work(ctx);
    }
}

#[derive(Default)]
struct SortedList {
    head: Option<Box<Node>>,
    length: u64,
}

struct Node {
    item: u64,
    next: Option<Box<Node>>,
}

#[reenact::actor]
impl SortedList {
    pub(super) fn write(&mut self, worker: FarRef<Worker>, item: u64) {
        let mut place = &mut self.head;
        while place.as_ref().is_some_and(|node| node.item < item) {
            place = &mut place.as_mut().expect("it was just looked at").next;
        }
        let next = place.take();
        *place = Some(Box::new(Node { item, next }));
        self.length += 1;
        worker.result(item);
    }

    pub(super) fn contains(&mut self, worker: FarRef<Worker>, item: u64) {
        let first = self.nodes().find(|node| node.item >= item);
        let found = first.is_some_and(|node| node.item == item);
        worker.result(found.into());
    }

    pub(super) fn size(&mut self, worker: FarRef<Worker>) {
        worker.result(self.length);
    }

    pub(super) fn end(&mut self, master: FarRef<Master>) {
        master.items(self.nodes().map(|node| node.item).collect());
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(self.head.as_deref(), |node| node.next.as_deref())
    }
}
