//! SleepingBarber: customers wait in a room for a barber who sleeps when nobody comes.
//!
//! The papers' waiting room has room for all customers of a round, so that nobody is sent away. How often the barber
//! falls asleep depends on the schedule; the actors count their messages.

use std::collections::VecDeque;

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use super::busy_wait;
use crate::{Measured, Setting, random::Random};

const HAIRCUTS: u64 = 1_000;
const ROUNDS: u64 = 240;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    Measured::rounds(setting.times(ROUNDS), |seed| {
        let (over, report) = Promise::pair();
        let barber = system.spawn(Barber {
            random: Random::new(2 * seed),
            haircuts: 0,
            messages: 0,
        });
        let room = system.spawn(WaitingRoom {
            waiting: VecDeque::new(),
            barber,
            asleep: true,
            messages: 0,
        });
        let factory = system.spawn(CustomerFactory {
            random: Random::new(2 * seed + 1),
            room,
            haircuts: 0,
            messages: 0,
            report,
        });
        factory.start();
        let day = over.wait().unwrap();
        assert_eq!(day.haircuts_given, HAIRCUTS);
        assert_eq!(day.haircuts_had, HAIRCUTS);
        day.messages
    })
}

/// How a round went.
#[derive(Clone, Copy)]
struct Day {
    haircuts_given: u64,
    haircuts_had: u64,
    messages: u64,
}

/// The most steps between two customers.
const PRODUCTION: u64 = 1_000;

struct CustomerFactory {
    random: Random,
    room: FarRef<WaitingRoom>,
    haircuts: u64,
    /// Messages to this actor and to customers.
    messages: u64,
    report: Resolver<Day>,
}

#[reenact::actor]
impl CustomerFactory {
    pub(super) fn start(&mut self, ctx: &mut Context<Self>) {
        for _ in 0..HAIRCUTS {
            let customer = ctx.spawn(Customer {
                factory: ctx.me(),
                messages: 0,
            });
            self.room.enter(customer);
            busy_wait(self.random.below(PRODUCTION) + 10);
        }
    }

    /// The room was full: the customer tries again.
    pub(super) fn returned(&mut self, customer: FarRef<Customer>) {
        self.messages += 1;
        self.room.enter(customer);
    }

    pub(super) fn done(&mut self, ctx: &mut Context<Self>, messages_of_customer: u64) {
        self.messages += 1 + messages_of_customer;
        self.haircuts += 1;
        if self.haircuts == HAIRCUTS {
            self.room.exit(ctx.me());
        }
    }

    pub(super) fn closed(&mut self, haircuts_given: u64, messages: u64) {
        self.report.resolve(Day {
            haircuts_given,
            haircuts_had: self.haircuts,
            messages: self.messages + messages + 1,
        });
    }
}

struct Customer {
    factory: FarRef<CustomerFactory>,
    messages: u64,
}

#[reenact::actor]
impl Customer {
    pub(super) fn full(&mut self, ctx: &mut Context<Self>) {
        self.messages += 1;
        self.factory.returned(ctx.me());
    }

    pub(super) fn wait(&mut self) {
        self.messages += 1;
    }

    pub(super) fn start(&mut self) {
        self.messages += 1;
    }

    pub(super) fn done(&mut self) {
        self.messages += 1;
        self.factory.done(self.messages);
    }
}

const WAITING_ROOM: usize = 1_000;

struct WaitingRoom {
    waiting: VecDeque<FarRef<Customer>>,
    barber: FarRef<Barber>,
    asleep: bool,
    messages: u64,
}

#[reenact::actor]
impl WaitingRoom {
    pub(super) fn enter(&mut self, ctx: &mut Context<Self>, customer: FarRef<Customer>) {
        self.messages += 1;
        if self.waiting.len() == WAITING_ROOM {
            customer.full();
            return;
        }
        if self.asleep {
            self.asleep = false;
            ctx.me().next();
        } else {
            customer.wait();
        }
        self.waiting.push_back(customer);
    }

    pub(super) fn next(&mut self, ctx: &mut Context<Self>) {
        self.messages += 1;
        match self.waiting.pop_front() {
            Some(customer) => self.barber.enter(customer, ctx.me()),
            None => {
                self.barber.wait();
                self.asleep = true;
            }
        }
    }

    pub(super) fn exit(&mut self, factory: FarRef<CustomerFactory>) {
        self.barber.exit(factory, self.messages + 1);
    }
}

/// The most steps of a haircut.
const HAIRCUT: u64 = 500;

struct Barber {
    random: Random,
    haircuts: u64,
    messages: u64,
}

#[reenact::actor]
impl Barber {
    pub(super) fn enter(&mut self, customer: FarRef<Customer>, room: FarRef<WaitingRoom>) {
        self.messages += 1;
        self.haircuts += 1;
        customer.start();
        busy_wait(self.random.below(HAIRCUT) + 10);
        customer.done();
        room.next();
    }

    pub(super) fn wait(&mut self) {
        self.messages += 1;
    }

    pub(super) fn exit(&mut self, factory: FarRef<CustomerFactory>, messages_of_room: u64) {
        factory.closed(self.haircuts, self.messages + messages_of_room + 1);
    }
}
