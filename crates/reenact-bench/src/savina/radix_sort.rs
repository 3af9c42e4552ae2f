//! RadixSort: numbers flow through a pipeline of actors, each of which sorts by one bit.
//!
//! It measures a pipeline with bursts: a sorter forwards the numbers with a clear bit at once, and the others when it has
//! seen all. A number has a message for each sorter and one for the validation.

use reenact::actor::{Context, FarRef, Promise, Resolver, System};

use crate::{Measured, Setting};

const NUMBERS: usize = 10_000;
const LARGEST: u64 = 65_536;
const SEED: u64 = 74_755;
const ROUNDS: u64 = 180;

pub(super) fn run(system: System, setting: &Setting) -> Measured {
    let expected: u64 = numbers().sum();
    let sorters = LARGEST.ilog2() as u64;
    Measured::rounds(setting.times(ROUNDS), |_| {
        let (sum, report) = Promise::pair();
        let validation = system.spawn(Validation {
            received: 0,
            previous: 0,
            sum: 0,
            report,
        });
        let mut next = Next::Validation(validation);
        let mut radix = LARGEST / 2;
        while radix > 0 {
            next = Next::Sorter(system.spawn(Sorter {
                radix,
                next,
                received: 0,
                held_back: Vec::new(),
            }));
            radix /= 2;
        }
        let source = system.spawn(IntSource);
        source.next_actor(next);
        assert_eq!(sum.wait().unwrap(), expected);
        (sorters + 1) * NUMBERS as u64
    })
}

/// Savina's pseudo-random numbers.
fn numbers() -> impl Iterator<Item = u64> {
    let step = |random: &u64| Some((random * 1_309 + 13_849) & 65_535);
    let numbers = std::iter::successors(step(&SEED), step);
    numbers.map(|random| random % LARGEST).take(NUMBERS)
}

/// Who comes next in the pipeline.
enum Next {
    Sorter(FarRef<Sorter>),
    Validation(FarRef<Validation>),
}

impl Next {
    fn value(&self, value: u64) {
        match self {
            Next::Sorter(sorter) => sorter.value(value),
            Next::Validation(validation) => validation.value(value),
        }
    }
}

struct IntSource;

#[reenact::actor]
impl IntSource {
    pub(super) fn next_actor(&mut self, next: Next) {
        for number in numbers() {
            next.value(number);
        }
    }
}

struct Sorter {
    radix: u64,
    next: Next,
    received: usize,
    /// The numbers that have this sorter's bit.
    held_back: Vec<u64>,
}

#[reenact::actor]
impl Sorter {
    pub(super) fn value(&mut self, value: u64) {
        self.received += 1;
        if value & self.radix == 0 {
            self.next.value(value);
        } else {
            self.held_back.push(value);
        }
        if self.received == NUMBERS {
            for value in self.held_back.drain(..) {
                self.next.value(value);
            }
        }
    }
}

struct Validation {
    received: usize,
    previous: u64,
    sum: u64,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Validation {
    pub(super) fn value(&mut self, ctx: &mut Context<Self>, value: u64) {
        assert!(self.previous <= value, "out of order");
        self.previous = value;
        self.sum += value;
        self.received += 1;
        if self.received == NUMBERS {
            self.report.resolve(self.sum);
            ctx.stop();
        }
    }
}
