//! ProducerConsumerBoundedBuffer: a manager between producers and consumers, with room for some items.
//!
//! Making an item and using it are real work, so that messages weigh little. An item has four: the manager's wish
//! for it, its two ways, and the consumer's word that it is free again.

use std::collections::VecDeque;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting, random::Random};

const BUFFER: usize = 40;
const PRODUCERS: usize = 5;
const CONSUMERS: usize = 5;
const ITEMS: u64 = 5_000;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let items = setting.times(ITEMS);
    Measured::around(|| {
        let (tally, report) = Promise::pair();
        let manager = system.spawn(Manager {
            room: BUFFER - PRODUCERS,
            pending: VecDeque::new(),
            waiting_producers: VecDeque::new(),
            waiting_consumers: Vec::new(),
            producing: PRODUCERS,
            made: Tally::default(),
            used: Tally::default(),
            report,
        });
        manager.start(items);
        let (made, used) = tally.wait().unwrap();
        assert_eq!(made.items, items * PRODUCERS as u64);
        assert_eq!(used, made, "items changed on their way");
        4 * made.items + 2 * PRODUCERS as u64 + 2 * CONSUMERS as u64
    })
}

/// In hundreds of logarithms, for making an item and again for using it.
const COST: u64 = 10;

/// Savina's work for an item: logarithms of random numbers on top of a start value.
fn process(start: f64, random: &mut Random) -> f64 {
    (0..COST * 100).fold(start, |sum, _| sum + (random.unit().abs() + 0.01).ln())
}

/// Items by their number, and by a sum over their bits that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    items: u64,
    sum: u64,
}

impl Tally {
    fn count(&mut self, item: f64) {
        self.add(Tally {
            items: 1,
            sum: item.to_bits(),
        });
    }

    fn add(&mut self, other: Tally) {
        self.items += other.items;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

struct Manager {
    /// How many items may be pending before producers have to wait; each may have one under way.
    room: usize,
    pending: VecDeque<f64>,
    waiting_producers: VecDeque<FarRef<Producer>>,
    waiting_consumers: Vec<FarRef<Consumer>>,
    producing: usize,
    made: Tally,
    used: Tally,
    report: Resolver<(Tally, Tally)>,
}

#[reenact::actor]
impl Manager {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>, items: u64) {
        self.waiting_consumers = (0..CONSUMERS)
            .map(|number| {
                ctx.spawn(Consumer {
                    random: Random::new(1_000 + number as u64),
                    used: Tally::default(),
                    manager: ctx.me(),
                })
            })
            .collect();
        for number in 0..PRODUCERS {
            let producer = ctx.spawn(Producer {
                random: Random::new(number as u64),
                last: 0.0,
                left: items,
                made: Tally::default(),
                manager: ctx.me(),
            });
            producer.produce_data();
        }
    }

    pub(super) fn data_item(&mut self, producer: FarRef<Producer>, item: f64) {
        match self.waiting_consumers.pop() {
            Some(consumer) => consumer.data_item(item),
            None => self.pending.push_back(item),
        }
        if self.pending.len() >= self.room {
            self.waiting_producers.push_back(producer);
        } else {
            producer.produce_data();
        }
    }

    pub(super) fn consumer_available(&mut self, consumer: FarRef<Consumer>) {
        match self.pending.pop_front() {
            None => {
                self.waiting_consumers.push(consumer);
                self.try_exit();
            }
            Some(item) => {
                consumer.data_item(item);
                if let Some(producer) = self.waiting_producers.pop_front() {
                    producer.produce_data();
                }
            }
        }
    }

    pub(super) fn producer_exit(&mut self, made: Tally) {
        self.made.add(made);
        self.producing -= 1;
        self.try_exit();
    }

    pub(super) fn consumer_exit(&mut self, used: Tally) {
        self.used.add(used);
        self.producing += 1;
        if self.producing == CONSUMERS {
            self.report.resolve((self.made, self.used));
        }
    }

    /// When nobody makes anything any more and everybody waits for something, all can go.
    fn try_exit(&mut self) {
        if self.producing == 0 && self.waiting_consumers.len() == CONSUMERS {
            for consumer in self.waiting_consumers.drain(..) {
                consumer.exit();
            }
        }
    }
}

struct Producer {
    random: Random,
    last: f64,
    left: u64,
    made: Tally,
    manager: FarRef<Manager>,
}

#[reenact::actor]
impl Producer {
    pub(super) fn produce_data(&mut self, ctx: &mut Context<Self>) {
        if self.left == 0 {
            self.manager.producer_exit(self.made);
            return;
        }
        self.left -= 1;
        self.last = process(self.last, &mut self.random);
        self.made.count(self.last);
        self.manager.data_item(ctx.me(), self.last);
    }
}

struct Consumer {
    random: Random,
    used: Tally,
    manager: FarRef<Manager>,
}

#[reenact::actor]
impl Consumer {
    pub(super) fn data_item(&mut self, ctx: &mut Context<Self>, item: f64) {
        self.used.count(item);
        std::hint::black_box(process(item, &mut self.random));
        self.manager.consumer_available(ctx.me());
    }

    pub(super) fn exit(&mut self) {
        self.manager.consumer_exit(self.used);
    }
}
