//! Counting: one actor sends another many increments, then asks for the count.
//!
//! It measures the throughput of one mailbox.

use reenact::actor::{FarRef, Promise, Resolver, System};

pub(super) fn run(system: System, increments: u64, rounds: u64) {
    let (count, report) = Promise::pair();
    let counter = system.spawn(Counter {
        count: 0,
        producer: None,
    });
    let producer = system.spawn(Producer {
        increments,
        rounds_left: rounds,
        counter: counter.clone(),
        report,
    });
    counter.meet(producer.clone());
    producer.produce();
    assert_eq!(count.wait().unwrap(), increments * rounds);
    counter.stop();
}

struct Producer {
    increments: u64,
    rounds_left: u64,
    counter: FarRef<Counter>,
    report: Resolver<u64>,
}

#[reenact::actor]
impl Producer {
    pub(super) fn produce(&mut self) {
        for _ in 0..self.increments {
            self.counter.increment();
        }
        self.counter.retrieve();
    }

    pub(super) fn result(&mut self, count: u64) {
        self.rounds_left -= 1;
        if self.rounds_left == 0 {
            self.report.resolve(count);
        } else {
            self.produce();
        }
    }
}

struct Counter {
    count: u64,
    producer: Option<FarRef<Producer>>,
}

#[reenact::actor]
impl Counter {
    pub(super) fn meet(&mut self, producer: FarRef<Producer>) {
        self.producer = Some(producer);
    }

    pub(super) fn increment(&mut self) {
        self.count += 1;
    }

    pub(super) fn retrieve(&mut self) {
        if let Some(producer) = &self.producer {
            producer.result(self.count);
        }
    }

    pub(super) fn stop(&mut self) {
        self.producer = None;
    }
}
